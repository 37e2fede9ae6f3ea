// The shapes of a depthwise convolution, checked, and how its rows are given to the threads.
#ifndef TFACCEL_NATIVE_DEPTHWISE_SHAPES_H_
#define TFACCEL_NATIVE_DEPTHWISE_SHAPES_H_

#include <vector>

#include "common.h"
#include "vectors.h"

namespace tfaccel {

using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::TensorShape;

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

// What the three operations have in common.
class Kernel : public tensorflow::OpKernel {
 public:
  explicit Kernel(OpKernelConstruction* construction) : OpKernel(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("stride", &stride_));
    OP_REQUIRES_OK(construction, construction->GetAttr("zeros", &zeros_));
    const bool is_padding = zeros_.empty() || zeros_.size() == 4;
    OP_REQUIRES(construction,
                (stride_ == 1 || stride_ == 2) && is_padding &&
                    std::all_of(zeros_.begin(), zeros_.end(), [](int32_t z) { return z >= 0; }),
                invalid("The stride must be 1 or 2, and there must be no zeros or four."));
  }

 protected:
  // What x and the filter say of the convolution; fails for shapes there is no code for.
  void geometry(OpKernelContext* context, const Tensor& x, const Tensor& filter, Geometry* g) {
    OP_REQUIRES(context, x.dims() == 4 && filter.dims() == 4,
                invalid("x and filter need four axes each."));
    const int64_t channels = x.dim_size(3), kernel = filter.dim_size(0);
    OP_REQUIRES(context,
                channels >= kLanes && (kernel == 3 || kernel == 5) &&
                    filter.shape() == TensorShape({kernel, kernel, channels, 1}),
                invalid("x has shape ", x.shape().DebugString(), " and filter ",
                        filter.shape().DebugString(), "; they need ", kLanes,
                        " channels or more, and [3, 3, channels, 1] or 5 for 3."));
    const int32_t* zeros = zeros_.empty() ? nullptr : zeros_.data();
    const Axis rows(x.dim_size(1), kernel, stride_, zeros);
    const Axis columns(x.dim_size(2), kernel, stride_, zeros ? zeros + 2 : nullptr);
    *g = {x.dim_size(0), channels,    x.dim_size(1), x.dim_size(2),
          rows.out,      columns.out, rows.before,   columns.before};
  }
  // The same, where there is a dy.
  void geometry(OpKernelContext* context, const Tensor& x, const Tensor& filter,
                const Tensor& dy, Geometry* g) {
    geometry(context, x, filter, g);
    if (!context->status().ok()) return;
    OP_REQUIRES(context, dy.shape() == output_shape(*g),
                invalid("dy has shape ", dy.shape().DebugString(), ", not ",
                        output_shape(*g).DebugString(), "."));
  }
  static TensorShape output_shape(const Geometry& g) {
    return {g.images, g.out_rows, g.out_columns, g.channels};
  }
  // Calls f with the filter's size and the stride as constants.
  template <class F>
  void with_constants(const Tensor& filter, F f) const {
    using One = std::integral_constant<int, 1>;
    using Two = std::integral_constant<int, 2>;
    using Three = std::integral_constant<int, 3>;
    using Five = std::integral_constant<int, 5>;
    if (filter.dim_size(0) == 3) return stride_ == 1 ? f(Three{}, One{}) : f(Three{}, Two{});
    return stride_ == 1 ? f(Five{}, One{}) : f(Five{}, Two{});
  }
  template <class T>
  static auto elements(const Tensor& tensor) {
    return static_cast<typename Stored<T>::Type*>(tensor.data());
  }

  int stride_;
  std::vector<int32_t> zeros_;
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
    return Units(rows, row, std::clamp<int64_t>(rows * row / 16, 8192, 32768));
  }
  int64_t rows, per_unit, count, cost;
};

// Has a share of a tensor brought near, in order: the loops take a few channels of each
// pixel, a pattern that the processor does not foresee.
inline void fetch(const Tensor& tensor, const Units& units, int64_t begin, int64_t end) {
  const char* data = static_cast<const char*>(tensor.data());
  const int64_t bytes = tensor.TotalBytes();
  for (int64_t i = bytes * begin / units.rows; i < bytes * end / units.rows; i += 64) {
    __builtin_prefetch(data + i, 0, 2);
  }
}

// Calls f(unit, begin, end, channel) for each thirty-two channels of each unit, which reads
// its share of `inputs`. The last thirty-two channels may overlap those before: what they
// share is computed twice, to the same bits.
template <class F>
void for_each_unit(OpKernelContext* context, const Units& units, int64_t channels,
                   std::initializer_list<const Tensor*> inputs, F f) {
  for_each(context, units.count, units.cost, [&](int64_t u) {
    const int64_t begin = u * units.per_unit, end = std::min(units.rows, begin + units.per_unit);
    for (const Tensor* tensor : inputs) fetch(*tensor, units, begin, end);
    for (int64_t c = 0; c < channels; c += kLanes) {
      f(u, begin, end, std::min(c, channels - kLanes));
    }
  });
}

}  // namespace tfaccel

#endif  // TFACCEL_NATIVE_DEPTHWISE_SHAPES_H_
