// The shapes of a depthwise convolution, and how its rows are given to the threads.
#ifndef TFACCEL_NATIVE_DEPTHWISE_SHAPES_H_
#define TFACCEL_NATIVE_DEPTHWISE_SHAPES_H_

#include "common.h"
#include "vectors.h"

namespace tfaccel {

// [images, rows, columns, channels] of the input and, with the same images and channels, of
// the output; `top` and `left` are the zeros around the input.
struct Geometry {
  int64_t images, channels, rows, columns, out_rows, out_columns, top, left;
};

// Zeros before, and the size of the result, along one axis. Without `zeros`, as TensorFlow's
// SAME: as few as give size / stride results, the odd one at the end.
struct Axis {
  Axis(int64_t size, int64_t kernel, int64_t stride, const int32_t* zeros) {
    const int64_t same = (size + stride - 1) / stride;
    const int64_t needed = std::max<int64_t>(0, (same - 1) * stride + kernel - size);
    before = zeros ? zeros[0] : needed / 2;
    const int64_t padded = size + (zeros ? zeros[0] + zeros[1] : needed);
    out = padded < kernel ? 0 : (padded - kernel) / stride + 1;
  }
  int64_t before, out;
};

// Some rows of results, one unit of work. The more rows, the more of what neighbouring rows
// share is still in the cache; the fewer, the more threads have something to do.
struct Units {
  // `row`: elements that a row reads or writes; `least`: of a unit.
  Units(int64_t rows, int64_t row, int64_t least) : rows(rows) {
    per_unit = std::max<int64_t>(1, least / std::max<int64_t>(row, 1));
    count = (rows + per_unit - 1) / per_unit;
    cost = 2 * per_unit * row;
  }
  static Units many(int64_t rows, int64_t row) {
    return Units(rows, row, std::clamp<int64_t>(rows * row / 16, 8192, 65536));
  }
  int64_t rows, per_unit, count, cost;
};

// Calls f(unit, begin, end, channel) for each thirty-two channels of each unit. The last
// thirty-two may overlap those before: what they share is computed twice, to the same bits.
template <class F>
void for_each_unit(tensorflow::OpKernelContext* context, const Units& units, int64_t channels,
                   F f) {
  for_each(context, units.count, units.cost, [&](int64_t u) {
    const int64_t begin = u * units.per_unit, end = std::min(units.rows, begin + units.per_unit);
    for (int64_t c = 0; c < channels; c += kLanes) {
      f(u, begin, end, std::min(c, channels - kLanes));
    }
  });
}

}  // namespace tfaccel

#endif  // TFACCEL_NATIVE_DEPTHWISE_SHAPES_H_
