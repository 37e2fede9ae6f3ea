// The three directions of a depthwise convolution, each for thirty-two channels and some rows.
//
// A tile of neighbouring results is held in registers, and each number that is read goes to
// all the results of the tile that need it. Kernel and stride are constants, so that which
// results these are is known to the compiler.
#ifndef TFACCEL_NATIVE_DEPTHWISE_LOOPS_H_
#define TFACCEL_NATIVE_DEPTHWISE_LOOPS_H_

#include "common.h"
#include "depthwise_shapes.h"
#include "vectors.h"

namespace tfaccel {

inline bool is_within(int64_t i, int64_t size) {
  return static_cast<uint64_t>(i) < static_cast<uint64_t>(size);
}

template <int K, class R>
inline void load_filter(const R* filter, int64_t channels, Lanes (&weight)[K][K]) {
  repeat<K * K>([&](auto i) TFACCEL_INLINE {
    weight[i / K][i % K] = load_lanes(filter + i * channels);
  });
}

// Rows `begin` to `end` of y, counted through all images. The pointers are at the first of
// the thirty-two channels.
template <int K, int S, class R>
void forward_rows(const Geometry& g, const R* x, const R* filter, R* y, int64_t begin,
                  int64_t end) {
  constexpr int kTile = S == 1 ? 6 : 4;
  Lanes weight[K][K];
  load_filter<K>(filter, g.channels, weight);
  for (int64_t r = begin; r < end; ++r) {
    const R* image = x + r / g.out_rows * g.rows * g.columns * g.channels;
    const int64_t above = r % g.out_rows * S - g.top;
    for (int64_t column = 0; column < g.out_columns; column += kTile) {
      Lanes sum[kTile] = {};
      const int64_t before = column * S - g.left;
      repeat<K>([&](auto ky) TFACCEL_INLINE {
        if (!is_within(above + ky, g.rows)) return;
        const R* from = image + (above + ky) * g.columns * g.channels;
        repeat<(kTile - 1) * S + K>([&](auto j) TFACCEL_INLINE {
          if (!is_within(before + j, g.columns)) return;
          const Lanes value = load_lanes(from + (before + j) * g.channels);
          repeat<K>([&](auto kx) TFACCEL_INLINE {
            constexpr int t = j - kx;
            if constexpr (t >= 0 && t % S == 0 && t / S < kTile) {
              add_product(sum[t / S], value, weight[ky][kx]);
            }
          });
        });
      });
      R* to = y + (r * g.out_columns + column) * g.channels;
      repeat<kTile>([&](auto t) TFACCEL_INLINE {
        if (column + t < g.out_columns) store_lanes(to + t * g.channels, sum[t]);
      });
    }
  }
}

// Rows `begin` to `end` of dx. Each number of dy goes to the K x K places it came from.
template <int K, int S, class R>
void input_gradient_rows(const Geometry& g, const R* dy, const R* filter, R* dx, int64_t begin,
                         int64_t end) {
  constexpr int kTile = 6, kBefore = (K - 1) / S;
  Lanes weight[K][K];
  load_filter<K>(filter, g.channels, weight);
  for (int64_t r = begin; r < end; ++r) {
    const R* image = dy + r / g.rows * g.out_rows * g.out_columns * g.channels;
    const int64_t row = r % g.rows + g.top;  // with the zeros above
    // A tile begins where a window does, so that its places in all windows are constants.
    for (int64_t column = g.left / S * S; column < g.left + g.columns; column += kTile) {
      Lanes sum[kTile] = {};
      repeat<K>([&](auto ky) TFACCEL_INLINE {
        if (row < ky || (row - ky) % S != 0 || (row - ky) / S >= g.out_rows) return;
        const R* from = image + (row - ky) / S * g.out_columns * g.channels;
        repeat<kBefore + (kTile - 1) / S + 1>([&](auto i) TFACCEL_INLINE {
          constexpr int j = i - kBefore;
          if (!is_within(column / S + j, g.out_columns)) return;
          const Lanes value = load_lanes(from + (column / S + j) * g.channels);
          repeat<K>([&](auto kx) TFACCEL_INLINE {
            constexpr int t = j * S + kx;
            if constexpr (t >= 0 && t < kTile) add_product(sum[t], value, weight[ky][kx]);
          });
        });
      });
      const int64_t first = column - g.left;
      R* to = dx + (r * g.columns + first) * g.channels;
      repeat<kTile>([&](auto t) TFACCEL_INLINE {
        if (is_within(first + t, g.columns)) store_lanes(to + t * g.channels, sum[t]);
      });
    }
  }
}

// What rows `begin` to `end` of dy add to the gradient of the filter, [K, K, channels]. Of a
// large filter, one row at a time: the sums of all would not fit in the registers.
template <int K, int S, class R>
void filter_gradient_rows(const Geometry& g, const R* x, const R* dy, float* gradient,
                          int64_t begin, int64_t end) {
  constexpr int kRows = K == 3 ? 3 : 1, kTile = K == 3 ? 4 : 6;
  // Columns beyond the last window take no part.
  const int64_t columns = std::min(g.columns, (g.out_columns - 1) * S - g.left + K);
  for (int first = 0; first < K; first += kRows) {
    Lanes sum[kRows][K] = {};
    for (int64_t r = begin; r < end; ++r) {
      const R* image = x + r / g.out_rows * g.rows * g.columns * g.channels;
      const int64_t above = r % g.out_rows * S - g.top + first;
      for (int64_t column = 0; column < g.out_columns; column += kTile) {
        const R* outer = dy + (r * g.out_columns + column) * g.channels;
        Lanes factor[kTile];
        repeat<kTile>([&](auto t) TFACCEL_INLINE {
          factor[t] = column + t < g.out_columns ? load_lanes(outer + t * g.channels) : Lanes{};
        });
        const int64_t before = column * S - g.left;
        repeat<kRows>([&](auto ky) TFACCEL_INLINE {
          if (!is_within(above + ky, g.rows)) return;
          const R* from = image + (above + ky) * g.columns * g.channels;
          repeat<(kTile - 1) * S + K>([&](auto j) TFACCEL_INLINE {
            if (!is_within(before + j, columns)) return;
            const Lanes value = load_lanes(from + (before + j) * g.channels);
            repeat<K>([&](auto kx) TFACCEL_INLINE {
              constexpr int t = j - kx;
              if constexpr (t >= 0 && t % S == 0 && t / S < kTile) {
                add_product(sum[ky][kx], value, factor[t / S]);
              }
            });
          });
        });
      }
    }
    repeat<kRows * K>([&](auto i) TFACCEL_INLINE {
      store_sums<R>(gradient + (first * K + i) * g.channels, sum[i / K][i % K]);
    });
  }
}

}  // namespace tfaccel

#endif  // TFACCEL_NATIVE_DEPTHWISE_LOOPS_H_
