// Thirty-two channels at a time, as two of the compiler's own vectors: it splits them where a
// register holds fewer. For loops whose sums must stay in registers; simpler ones do without.
#ifndef TFACCEL_NATIVE_VECTORS_H_
#define TFACCEL_NATIVE_VECTORS_H_

#ifdef __AVX512BF16__
#include <immintrin.h>
#endif

#include <cstdint>
#include <cstring>
#include <utility>

namespace tfaccel {

constexpr int kLanes = 32;
typedef float Floats __attribute__((vector_size(64)));
typedef uint32_t Words __attribute__((vector_size(64)));

// The numbers of thirty-two channels: the first and the second half of them in float32, the
// even and the odd ones in bfloat16. So a conversion is one instruction: in a word of two
// bfloat16, shift the lower up, or clear it.
struct Lanes {
  Floats a, b;
};

inline Lanes load_lanes(const float* from) {
  Lanes lanes;  // by halves: a copy of the whole would go through the stack
  std::memcpy(&lanes.a, from, sizeof lanes.a);
  std::memcpy(&lanes.b, from + kLanes / 2, sizeof lanes.b);
  return lanes;
}
inline Lanes load_lanes(const uint16_t* from) {
  Words words;
  std::memcpy(&words, from, sizeof words);
  return {reinterpret_cast<Floats>(words << 16), reinterpret_cast<Floats>(words & 0xffff0000u)};
}

inline void store_lanes(float* to, const Lanes& lanes) {
  std::memcpy(to, &lanes.a, sizeof lanes.a);
  std::memcpy(to + kLanes / 2, &lanes.b, sizeof lanes.b);
}

// To the nearest bfloat16, in the upper half of each word; what the lower half holds is open.
inline Words rounded(Floats values) {
#ifdef __AVX512BF16__
  const __m256bh halves = _mm512_cvtneps_pbh(reinterpret_cast<__m512>(values));
  return reinterpret_cast<Words>(_mm512_cvtepu16_epi32(reinterpret_cast<__m256i>(halves))) << 16;
#else  // as in common.h
  const Words bits = reinterpret_cast<Words>(values);
  return values == values ? bits + 0x7fff + ((bits >> 16) & 1) : Words{} + 0x7fc00000u;
#endif
}
inline void store_lanes(uint16_t* to, const Lanes& lanes) {
  const Words words = rounded(lanes.a) >> 16 | (rounded(lanes.b) & 0xffff0000u);
  std::memcpy(to, &words, sizeof words);
}

// Stores in float32 what was computed from numbers of type R.
template <class R>
inline void store_sums(float* to, const Lanes& lanes) {
  constexpr bool kHalves = sizeof(R) == sizeof(float);
  for (int i = 0; i < kLanes / 2; ++i) {
    to[kHalves ? i : 2 * i] = lanes.a[i];
    to[kHalves ? i + kLanes / 2 : 2 * i + 1] = lanes.b[i];
  }
}

// sum += x * y
inline void add_product(Lanes& sum, const Lanes& x, const Lanes& y) {
  sum.a += x.a * y.a;
  sum.b += x.b * y.b;
}

// Calls f with the constants 0, 1 ... kCount - 1: a loop that is surely unrolled, so that an
// array indexed by them can live in registers.
#define TFACCEL_INLINE __attribute__((always_inline))
template <class F, int... kIndices>
TFACCEL_INLINE inline void repeat(F f, std::integer_sequence<int, kIndices...>) {
  (f(std::integral_constant<int, kIndices>{}), ...);
}
template <int kCount, class F>
TFACCEL_INLINE inline void repeat(F f) {
  repeat(f, std::make_integer_sequence<int, kCount>{});
}

}  // namespace tfaccel

#endif  // TFACCEL_NATIVE_VECTORS_H_
