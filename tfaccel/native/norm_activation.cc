// Batch normalisation over all axes but the last, with the activation that follows it: one
// pass over memory for the statistics, one for the result, and two for the gradient.
//
//   z = (x - mean) * gamma / sqrt(variance + epsilon) + beta,   y = activation(z)
//
// z is not kept: the gradient computes it again from x, which costs less than reading it.
#include "activations.h"
#include "common.h"
#include "norm_loops.h"

namespace tfaccel {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::Tensor;

class Kernel : public OpKernel {
 public:
  explicit Kernel(OpKernelConstruction* construction) : OpKernel(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("epsilon", &epsilon_));
    OP_REQUIRES_OK(construction, construction->GetAttr("activation", &activation_));
  }

 protected:
  // How to cut input `x`; fails unless each later input has one number for each channel.
  void cut(OpKernelContext* context, int x, std::unique_ptr<Cut>* cut) {
    const Tensor& tensor = context->input(x);
    const int rank = tensor.dims();
    OP_REQUIRES(context, rank >= 2 && tensor.dim_size(rank - 1) > 0,
                invalid("x has shape ", tensor.shape().DebugString(),
                        "; it needs two axes or more, and a channel."));
    const int64_t channels = tensor.dim_size(rank - 1);
    for (int i = x + 1; i < context->num_inputs(); ++i) {
      OP_REQUIRES(context, context->input(i).NumElements() == channels,
                  invalid("input ", i, " has shape ", context->input(i).shape().DebugString(),
                          ", but x has ", channels, " channels."));
    }
    *cut = std::make_unique<Cut>(tensor.NumElements() / channels, channels);
  }
  static const float* numbers(OpKernelContext* context, int i) {
    return context->input(i).flat<float>().data();
  }
  template <class T>
  static auto elements(const Tensor& tensor) {
    return static_cast<typename Stored<T>::Type*>(tensor.data());
  }

  float epsilon_;
  std::string activation_;
};

// (x, gamma, beta) -> (y, mean, variance), and with given statistics
// (x, gamma, beta, mean, variance) -> y
template <class T, bool kTraining>
class Forward : public Kernel {
 public:
  using Kernel::Kernel;
  void Compute(OpKernelContext* context) override {
    std::unique_ptr<Cut> cut;
    this->cut(context, 0, &cut);
    if (!context->status().ok()) return;
    const Tensor& x = context->input(0);
    const auto* from = elements<T>(x);  // before the output takes over the memory
    Tensor* y;
    OP_REQUIRES_OK(context, context->forward_input_or_allocate_output({0}, 0, x.shape(), &y));
    const float *mean, *variance;
    if constexpr (kTraining) {
      Tensor *means, *variances;
      OP_REQUIRES_OK(context, context->allocate_output(1, {cut->channels}, &means));
      OP_REQUIRES_OK(context, context->allocate_output(2, {cut->channels}, &variances));
      statistics(context, *cut, from, means->flat<float>().data(),
                 variances->flat<float>().data());
      mean = means->flat<float>().data(), variance = variances->flat<float>().data();
    } else {
      mean = numbers(context, 3), variance = numbers(context, 4);
    }
    const Affine affine(*cut, epsilon_, numbers(context, 1), numbers(context, 2), mean, variance);
    with_activation(activation_, [&](auto activation) {
      apply<decltype(activation)>(context, *cut, affine, from, elements<T>(*y));
    });
  }
};

// (dy, x, gamma, beta, mean, variance[, dmean, dvariance]) -> (dx, dgamma, dbeta)
template <class T, bool kTraining>
class Backward : public Kernel {
 public:
  using Kernel::Kernel;
  void Compute(OpKernelContext* context) override {
    std::unique_ptr<Cut> cut;
    this->cut(context, 1, &cut);
    if (!context->status().ok()) return;
    const Tensor &dy = context->input(0), &x = context->input(1);
    OP_REQUIRES(context, dy.shape() == x.shape(),
                invalid("dy has shape ", dy.shape().DebugString(), ", but x has ",
                        x.shape().DebugString(), "."));
    const auto *above = elements<T>(dy), *from = elements<T>(x);
    Tensor *dx, *dgamma, *dbeta;
    OP_REQUIRES_OK(context, context->forward_input_or_allocate_output({0}, 0, x.shape(), &dx));
    OP_REQUIRES_OK(context, context->allocate_output(1, {cut->channels}, &dgamma));
    OP_REQUIRES_OK(context, context->allocate_output(2, {cut->channels}, &dbeta));
    const Affine affine(*cut, epsilon_, numbers(context, 2), numbers(context, 3),
                        numbers(context, 4), numbers(context, 5));
    with_activation(activation_, [&](auto activation) {
      using Activation = decltype(activation);
      std::vector<double> plain, weighted;  // sums of dz and of dz * (x - mean)
      gradient_sums<Activation>(context, *cut, affine, above, from, plain, weighted);
      std::vector<float> slope(cut->period, 0.f), shift(cut->period, 0.f);
      const double n = cut->rows();
      for (int64_t i = 0; i < cut->period; ++i) {
        const int64_t c = i % cut->channels;
        const double square = 1. / (double{numbers(context, 5)[c]} + epsilon_);
        dgamma->flat<float>()(c) = static_cast<float>(weighted[c] * std::sqrt(square));
        dbeta->flat<float>()(c) = static_cast<float>(plain[c]);
        if constexpr (kTraining) {  // the statistics are functions of x too
          const double scale = affine.scale[i];
          const double dmean = numbers(context, 6)[c], dvariance = numbers(context, 7)[c];
          shift[i] = static_cast<float>((dmean - scale * plain[c]) / n);
          slope[i] = static_cast<float>((2. * dvariance - scale * weighted[c] * square) / n);
        }
      }
      gradient_apply<Activation>(context, *cut, affine, slope.data(), shift.data(), above, from,
                                 elements<T>(*dx));
    });
  }
};

// Outputs shaped like the given inputs, in order.
template <int... kInputs>
absl::Status shaped_like(tensorflow::shape_inference::InferenceContext* context) {
  int output = 0;
  (context->set_output(output++, context->input(kInputs)), ...);
  return absl::OkStatus();
}

}  // namespace

#define TFACCEL_OP(name)              \
  REGISTER_OP(name)                   \
      .Attr("T: {float, bfloat16}")   \
      .Attr("epsilon: float")         \
      .Attr("activation: {'linear', 'relu', 'relu6', 'hard_swish', 'silu'}")
#define TFACCEL_FIXED(chain) \
  chain.Input("x: T").Input("gamma: float").Input("beta: float") \
      .Input("mean: float").Input("variance: float")
#define TFACCEL_GRADIENT(chain) \
  chain.Output("dx: T").Output("dgamma: float").Output("dbeta: float") \
      .SetShapeFn(shaped_like<1, 2, 2>)

TFACCEL_OP("TfaccelNormActivation")
    .Input("x: T").Input("gamma: float").Input("beta: float")
    .Output("y: T").Output("mean: float").Output("variance: float")
    .SetShapeFn(shaped_like<0, 1, 1>);
TFACCEL_FIXED(TFACCEL_OP("TfaccelFixedNormActivation"))
    .Output("y: T").SetShapeFn(shaped_like<0>);
TFACCEL_GRADIENT(TFACCEL_FIXED(TFACCEL_OP("TfaccelNormActivationGrad").Input("dy: T"))
    .Input("dmean: float").Input("dvariance: float"));
TFACCEL_GRADIENT(TFACCEL_FIXED(TFACCEL_OP("TfaccelFixedNormActivationGrad").Input("dy: T")));

#define TFACCEL_KERNEL(name, T, ...) \
  REGISTER_KERNEL_BUILDER(           \
      Name(name).Device(tensorflow::DEVICE_CPU).TypeConstraint<T>("T"), __VA_ARGS__)
#define TFACCEL_KERNELS(T)                                                  \
  TFACCEL_KERNEL("TfaccelNormActivation", T, Forward<T, true>);             \
  TFACCEL_KERNEL("TfaccelFixedNormActivation", T, Forward<T, false>);       \
  TFACCEL_KERNEL("TfaccelNormActivationGrad", T, Backward<T, true>);        \
  TFACCEL_KERNEL("TfaccelFixedNormActivationGrad", T, Backward<T, false>)

TFACCEL_KERNELS(float);
TFACCEL_KERNELS(tensorflow::bfloat16);

}  // namespace tfaccel
