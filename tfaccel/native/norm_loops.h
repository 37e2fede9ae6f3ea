// The passes over memory of batch normalisation with its activation.
#ifndef TFACCEL_NATIVE_NORM_LOOPS_H_
#define TFACCEL_NATIVE_NORM_LOOPS_H_

#include <vector>

#include "activations.h"
#include "common.h"

namespace tfaccel {

using tensorflow::OpKernelContext;

// Mean and biased variance of each channel. Each block subtracts its own first period before
// it squares: a mean of a thousand deviations would otherwise leave nothing of the variance.
// (If that period is far from the rest, the variance it is compared to is as large.)
template <class R>
void statistics(OpKernelContext* context, const Cut& cut, const R* x, float* mean,
                float* variance) {
  const int64_t period = cut.period, channels = cut.channels;
  const auto shifts = scratch(cut.blocks * period), sums = scratch(cut.blocks * period),
             squares = scratch(cut.blocks * period);
  for_each(context, cut.blocks, cut.block, [&](int64_t b) {
    const R* from = x + cut.begin(b);
    const int64_t size = cut.size(b);
    float* shift = &shifts[b * period];
    for (int64_t c = 0; c < period; ++c) {
      const float first = c < size ? load(from[c]) : 0.f;
      shift[c] = std::isfinite(first) ? first : 0.f;  // infinity minus infinity is not a number
    }
    add_up(size, period, &sums[b * period], &squares[b * period], [=](int64_t i, int64_t c) {
      const float d = load(from[i]) - shift[c];
      return Two{d, d * d};
    });
  });

  // Every place of every block's period is a sample of n rows with its own sums: put them
  // together in double precision, first the means, then the squares around the common mean.
  const auto for_each_sample = [&](auto merge) {
    for (int64_t b = 0; b < cut.blocks; ++b) {
      for (int64_t at = 0; at < period; at += channels) {
        const double n = cut.size(b) / period + (at < cut.size(b) % period);
        const int64_t from = b * period + at;
        if (n) merge(n, &shifts[from], &sums[from], &squares[from]);
      }
    }
  };
  std::vector<double> means(channels, 0.), moments(channels, 0.);
  for_each_sample([&](double n, const float* shift, const float* sum, const float*) {
    for (int64_t c = 0; c < channels; ++c) means[c] += n * shift[c] + sum[c];
  });
  const double rows = std::max<int64_t>(cut.rows(), 1);  // of none, both are zero
  for (double& m : means) m /= rows;
  for_each_sample([&](double n, const float* shift, const float* sum, const float* square) {
    for (int64_t c = 0; c < channels; ++c) {
      const double local = sum[c] / n, apart = shift[c] + local - means[c];
      moments[c] += square[c] - sum[c] * local + n * apart * apart;
    }
  });
  for (int64_t c = 0; c < channels; ++c) {
    const double v = moments[c] / rows;
    mean[c] = static_cast<float>(means[c]);
    variance[c] = static_cast<float>(v < 0. ? 0. : v);  // rounding alone makes it negative
  }
}

// What a channel multiplies and adds, repeated over the places of a period.
struct Affine {
  Affine(const Cut& cut, float epsilon, const float* gamma, const float* beta, const float* mean,
         const float* variance)
      : centre(cut.period), scale(cut.period), offset(cut.period) {
    for (int64_t i = 0; i < cut.period; ++i) {
      const int64_t c = i % cut.channels;
      centre[i] = mean[c];
      scale[i] = gamma[c] / std::sqrt(variance[c] + epsilon);
      offset[i] = beta[c];
    }
  }
  std::vector<float> centre, scale, offset;
};

// Calls f(begin, size) for each period of each block, on all threads. The last block comes
// first: of the pass before this one, its data are the ones still in the cache.
template <class F>
void for_each_period(OpKernelContext* context, const Cut& cut, F f) {
  for_each(context, cut.blocks, 2 * cut.block, [&](int64_t i) {
    const int64_t b = cut.blocks - 1 - i, end = cut.begin(b) + cut.size(b);
    for (int64_t at = cut.begin(b); at < end; at += cut.period) {
      f(at, std::min(cut.period, end - at));
    }
  });
}

template <class Activation, class R>
void apply(OpKernelContext* context, const Cut& cut, const Affine& affine, const R* x, R* y) {
  for_each_period(context, cut, [&](int64_t at, int64_t size) {
    const float *centre = affine.centre.data(), *scale = affine.scale.data(),
                *offset = affine.offset.data();
    const R* from = x + at;
    R* to = y + at;
#pragma GCC ivdep
    for (int64_t c = 0; c < size; ++c) {
      store(to + c, Activation::value((load(from[c]) - centre[c]) * scale[c] + offset[c]));
    }
  });
}

// Sums over the rows, by channel, of dz and of dz * (x - mean).
template <class Activation, class R>
void gradient_sums(OpKernelContext* context, const Cut& cut, const Affine& affine, const R* dy,
                   const R* x, std::vector<double>& plain, std::vector<double>& weighted) {
  const int64_t period = cut.period;
  const auto sums = scratch(cut.blocks * period), products = scratch(cut.blocks * period);
  for_each(context, cut.blocks, 2 * cut.block, [&](int64_t b) {
    const float *centre = affine.centre.data(), *scale = affine.scale.data(),
                *offset = affine.offset.data();
    const R *from = x + cut.begin(b), *above = dy + cut.begin(b);
    add_up(cut.size(b), period, &sums[b * period], &products[b * period],
           [=](int64_t i, int64_t c) {
             const float d = load(from[i]) - centre[c];
             const float dz = load(above[i]) * Activation::slope(d * scale[c] + offset[c]);
             return Two{dz, dz * d};
           });
  });
  plain.assign(cut.channels, 0.);
  weighted.assign(cut.channels, 0.);
  for (int64_t at = 0; at < cut.blocks * period; at += cut.channels) {
    for (int64_t c = 0; c < cut.channels; ++c) {
      plain[c] += sums[at + c];
      weighted[c] += products[at + c];
    }
  }
}

// dx = scale * dz + slope * (x - mean) + shift
template <class Activation, class R>
void gradient_apply(OpKernelContext* context, const Cut& cut, const Affine& affine,
                    const float* slope, const float* shift, const R* dy, const R* x, R* dx) {
  for_each_period(context, cut, [&](int64_t at, int64_t size) {
    const float *centre = affine.centre.data(), *scale = affine.scale.data(),
                *offset = affine.offset.data();
    const R *from = x + at, *above = dy + at;
    R* to = dx + at;
#pragma GCC ivdep
    for (int64_t c = 0; c < size; ++c) {
      const float d = load(from[c]) - centre[c];
      const float dz = load(above[c]) * Activation::slope(d * scale[c] + offset[c]);
      store(to + c, scale[c] * dz + slope[c] * d + shift[c]);
    }
  });
}

}  // namespace tfaccel

#endif  // TFACCEL_NATIVE_NORM_LOOPS_H_
