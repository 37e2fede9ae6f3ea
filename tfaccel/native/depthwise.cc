// Depthwise convolution in two dimensions, [images, rows, columns, channels] with one filter
// [K, K, channels, 1] for each channel, and its two gradients.
#include <vector>

#include "common.h"
#include "depthwise_loops.h"
#include "depthwise_shapes.h"

namespace tfaccel {
namespace {

// (x, filter) -> y
template <class T>
class Forward : public Kernel {
 public:
  using Kernel::Kernel;
  void Compute(OpKernelContext* context) override {
    const Tensor &x = context->input(0), &filter = context->input(1);
    Geometry g;
    geometry(context, x, filter, &g);
    if (!context->status().ok()) return;
    Tensor* y;
    OP_REQUIRES_OK(context, context->allocate_output(0, output_shape(g), &y));
    const auto *from = elements<T>(x), *weights = elements<T>(filter);
    auto* to = elements<T>(*y);
    const int64_t row = g.columns * g.channels * stride_;
    const Units units = Units::many(g.images * g.out_rows, row);
    with_constants(filter, [&](auto k, auto s) {
      for_each_unit(context, units, g.channels, {&x}, [&](auto, auto begin, auto end, auto c) {
        forward_rows<k, s>(g, from + c, weights + c, to + c, begin, end);
      });
    });
  }
};

// (x, filter, dy) -> dx; of x, only the shape.
template <class T>
class InputGradient : public Kernel {
 public:
  using Kernel::Kernel;
  void Compute(OpKernelContext* context) override {
    const Tensor &x = context->input(0), &filter = context->input(1), &dy = context->input(2);
    Geometry g;
    geometry(context, x, filter, dy, &g);
    if (!context->status().ok()) return;
    Tensor* dx;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &dx));
    const auto *from = elements<T>(dy), *weights = elements<T>(filter);
    auto* to = elements<T>(*dx);
    const Units units = Units::many(g.images * g.rows, g.columns * g.channels);
    with_constants(filter, [&](auto k, auto s) {
      for_each_unit(context, units, g.channels, {&dy}, [&](auto, auto begin, auto end, auto c) {
        input_gradient_rows<k, s>(g, from + c, weights + c, to + c, begin, end);
      });
    });
  }
};

// (x, filter, dy) -> dfilter; of the filter, only the shape.
template <class T>
class FilterGradient : public Kernel {
 public:
  using Kernel::Kernel;
  void Compute(OpKernelContext* context) override {
    const Tensor &x = context->input(0), &filter = context->input(1), &dy = context->input(2);
    Geometry g;
    geometry(context, x, filter, dy, &g);
    if (!context->status().ok()) return;
    Tensor* dfilter;
    OP_REQUIRES_OK(context, context->allocate_output(0, filter.shape(), &dfilter));
    const auto *from = elements<T>(x), *above = elements<T>(dy);
    // Each unit has sums of its own: few and large units, so that these are small beside them.
    const int64_t size = filter.NumElements();
    const Units units(g.images * g.out_rows, g.out_columns * g.channels,
                      std::max<int64_t>({8 * size, 32768, dy.NumElements() / 64}));
    const auto sums = scratch(units.count * size);
    with_constants(filter, [&](auto k, auto s) {
      for_each_unit(context, units, g.channels, {&x, &dy}, [&](auto u, auto begin, auto end, auto c) {
        filter_gradient_rows<k, s>(g, from + c, above + c, &sums[u * size + c], begin, end);
      });
    });
    std::vector<double> total(size, 0.);
    for (int64_t u = 0; u < units.count; ++u) {  // in this order, whoever was first
      for (int64_t i = 0; i < size; ++i) total[i] += sums[u * size + i];
    }
    auto* to = elements<T>(*dfilter);
    for (int64_t i = 0; i < size; ++i) store(to + i, static_cast<float>(total[i]));
  }
};

using tensorflow::shape_inference::InferenceContext;

absl::Status output_shape(InferenceContext* context) {
  tensorflow::shape_inference::ShapeHandle x, filter;
  TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 4, &x));
  TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 4, &filter));
  int stride;
  std::vector<int32_t> zeros;
  TF_RETURN_IF_ERROR(context->GetAttr("stride", &stride));
  TF_RETURN_IF_ERROR(context->GetAttr("zeros", &zeros));
  const auto along = [&](int axis) {
    const auto size = context->Dim(x, axis), kernel = context->Dim(filter, axis - 1);
    if (!context->ValueKnown(size) || !context->ValueKnown(kernel)) return context->UnknownDim();
    const int32_t* own = zeros.empty() ? nullptr : &zeros[2 * (axis - 1)];
    return context->MakeDim(Axis(context->Value(size), context->Value(kernel), stride, own).out);
  };
  context->set_output(
      0, context->MakeShape({context->Dim(x, 0), along(1), along(2), context->Dim(x, 3)}));
  return absl::OkStatus();
}

template <int kInput>
absl::Status shaped_like(InferenceContext* context) {
  context->set_output(0, context->input(kInput));
  return absl::OkStatus();
}

}  // namespace

// `zeros`: those above, below, left and right; none for SAME.
#define TFACCEL_OP(name)            \
  REGISTER_OP(name)                 \
      .Attr("T: {float, bfloat16}") \
      .Attr("stride: int")          \
      .Attr("zeros: list(int)")     \
      .Input("x: T")                \
      .Input("filter: T")

TFACCEL_OP("TfaccelDepthwise").Output("y: T").SetShapeFn(output_shape);
TFACCEL_OP("TfaccelDepthwiseInputGrad")
    .Input("dy: T").Output("dx: T").SetShapeFn(shaped_like<0>);
TFACCEL_OP("TfaccelDepthwiseFilterGrad")
    .Input("dy: T").Output("dfilter: T").SetShapeFn(shaped_like<1>);

#define TFACCEL_KERNEL(name, T, Class) \
  REGISTER_KERNEL_BUILDER(             \
      Name(name).Device(tensorflow::DEVICE_CPU).TypeConstraint<T>("T"), Class<T>)
#define TFACCEL_KERNELS(T)                                           \
  TFACCEL_KERNEL("TfaccelDepthwise", T, Forward);                    \
  TFACCEL_KERNEL("TfaccelDepthwiseInputGrad", T, InputGradient);     \
  TFACCEL_KERNEL("TfaccelDepthwiseFilterGrad", T, FilterGradient)

TFACCEL_KERNELS(float);
TFACCEL_KERNELS(tensorflow::bfloat16);

}  // namespace tfaccel
