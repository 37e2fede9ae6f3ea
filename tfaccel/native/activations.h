// Activations and their slopes, written so that the compiler makes vector code of them.
// Each comparison lets a NaN through: `z < 0 ? 0 : z` is z if z is none.
#ifndef TFACCEL_NATIVE_ACTIVATIONS_H_
#define TFACCEL_NATIVE_ACTIVATIONS_H_

#include <string>

#include "common.h"

namespace tfaccel {

struct Linear {
  static float value(float z) { return z; }
  static float slope(float) { return 1.f; }
};

struct Relu {
  static float value(float z) { return z < 0.f ? 0.f : z; }
  static float slope(float z) { return z > 0.f ? 1.f : 0.f; }
};

struct Relu6 {
  static float value(float z) {
    const float above = z < 0.f ? 0.f : z;
    return above > 6.f ? 6.f : above;
  }
  static float slope(float z) { return z > 0.f && z < 6.f ? 1.f : 0.f; }
};

struct HardSwish {
  static float value(float z) { return z * gate(z); }
  static float slope(float z) { return gate(z) + (z > -3.f && z < 3.f ? z * (1.f / 6.f) : 0.f); }
  static float gate(float z) { return Relu6::value(z + 3.f) * (1.f / 6.f); }
};

// exp to within 2 units in the last place (the polynomial is that of Cephes's expf). The
// library's own is not made into vectors without -ffast-math.
inline float exponential(float x) {
  x = x < -87.f ? -87.f : x;
  x = x > 88.f ? 88.f : x;
  // Adding 1.5 * 2^23 leaves the nearest integer in the lowest bits.
  const float shifted = x * 1.44269504f + 12582912.f;
  const float n = shifted - 12582912.f;
  const float power = float_of((bits_of(shifted) - 0x4b400000u + 127u) << 23);
  float r = x - n * 0.693359375f;
  r = r + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  return (p * r * r + r + 1.f) * power;
}

struct Silu {
  static float value(float z) { return z * sigmoid(z); }
  static float slope(float z) {
    const float s = sigmoid(z);
    return s * (1.f + z * (1.f - s));
  }
  static float sigmoid(float z) { return 1.f / (1.f + exponential(-z)); }
};

// Calls f with the activation of that name; the operation's registration lists the names.
template <class F>
void with_activation(const std::string& name, F f) {
  if (name == "relu") return f(Relu{});
  if (name == "relu6") return f(Relu6{});
  if (name == "hard_swish") return f(HardSwish{});
  if (name == "silu") return f(Silu{});
  f(Linear{});
}

}  // namespace tfaccel

#endif  // TFACCEL_NATIVE_ACTIVATIONS_H_
