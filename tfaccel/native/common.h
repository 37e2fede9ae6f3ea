// What all operations share: bfloat16 in memory, and work cut into blocks.
#ifndef TFACCEL_NATIVE_COMMON_H_
#define TFACCEL_NATIVE_COMMON_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/util/work_sharder.h"

namespace tfaccel {

// The number behind a tensor's element. bfloat16 is moved as bits: written as shifts and
// adds, the compiler turns the conversions into vector code, which it does not do with
// TensorFlow's own type.
template <class T>
struct Stored {
  using Type = T;
};
template <>
struct Stored<tensorflow::bfloat16> {
  using Type = uint16_t;
};

inline uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float float_of(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline float load(float value) { return value; }
inline float load(uint16_t bits) { return float_of(uint32_t{bits} << 16); }

inline void store(float* to, float value) { *to = value; }
inline void store(uint16_t* to, float value) {
  const uint32_t bits = bits_of(value);
  const uint32_t rounded = bits + 0x7fff + ((bits >> 16) & 1);  // to the nearest, ties to even
  // Rounding would carry a NaN's bits over into its sign, and make it a zero.
  *to = static_cast<uint16_t>((value != value ? 0x7fc00000u : rounded) >> 16);
}

template <class... Parts>
absl::Status invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// Memory that is not cleared: whoever works on a part of it writes that part first.
inline std::unique_ptr<float[]> scratch(int64_t size) {
  return std::unique_ptr<float[]>(new float[std::max<int64_t>(size, 1)]);
}

// Calls work(i) for 0 <= i < count on TensorFlow's own threads. What work(i) computes must
// not depend on the thread or the order: then results are the same bits each time.
template <class Work>
void for_each(tensorflow::OpKernelContext* context, int64_t count, int64_t cost, Work work) {
  const auto* threads = context->device()->tensorflow_cpu_worker_threads();
  tensorflow::Shard(threads->num_threads, threads->workers, count, cost,
                    [&](int64_t begin, int64_t end) {
                      for (int64_t i = begin; i < end; ++i) work(i);
                    });
}

// A tensor [rows, channels], cut for vectors and for threads.
struct Cut {
  Cut(int64_t rows, int64_t channels) : channels(channels), total(rows * channels) {
    int64_t together = kVector / std::gcd(channels, kVector);
    if (together * channels > kLongPeriod) together = 1;  // the odd end is a small share
    while (together * channels < kShortPeriod) together *= 2;
    period = together * channels;
    block = std::max({kLeastBlock, kLeastPeriods * period, total / kMostBlocks});
    block = (block + period - 1) / period * period;
    blocks = (total + block - 1) / block;
  }
  int64_t begin(int64_t i) const { return i * block; }
  int64_t size(int64_t i) const { return std::min(block, total - i * block); }
  int64_t rows() const { return total / channels; }
  int64_t rows_per_period() const { return period / channels; }

  int64_t channels, total;
  int64_t period;  // elements in a few rows taken as one, so that 3 channels fill a vector too
  // Elements in a unit of work. It follows from the shape alone, not from how many threads
  // there are: partial sums are then added in the same order each time.
  int64_t block, blocks;

 private:
  static constexpr int64_t kVector = 16, kShortPeriod = 64, kLongPeriod = 1024;
  static constexpr int64_t kLeastBlock = 16384, kLeastPeriods = 64, kMostBlocks = 128;
};

// Two sums in each place of the period, over one block: term(i, c) returns what element i of
// the block, in place c, adds to them. Four periods are added up before the sums are touched:
// fewer loads and stores, and less rounding.
struct Two {
  float first, second;
};
template <class Term>
inline void add_up(int64_t size, int64_t period, float* __restrict first,
                   float* __restrict second, Term term) {
  std::fill_n(first, period, 0.f);
  std::fill_n(second, period, 0.f);
  int64_t i = 0;
  for (; i + 4 * period <= size; i += 4 * period) {
#pragma GCC ivdep
    for (int64_t c = 0; c < period; ++c) {
      const Two p = term(i + c, c), q = term(i + period + c, c);
      const Two r = term(i + 2 * period + c, c), s = term(i + 3 * period + c, c);
      first[c] += (p.first + q.first) + (r.first + s.first);
      second[c] += (p.second + q.second) + (r.second + s.second);
    }
  }
  for (; i < size; i += period) {
    const int64_t end = std::min(period, size - i);
#pragma GCC ivdep
    for (int64_t c = 0; c < end; ++c) {
      const Two p = term(i + c, c);
      first[c] += p.first;
      second[c] += p.second;
    }
  }
}

}  // namespace tfaccel

#endif  // TFACCEL_NATIVE_COMMON_H_
