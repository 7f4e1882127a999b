#pragma once

#include <cstddef>
#include <cstdint>

#include "train/graph/operation.h"

namespace winnow::train {

// Dropout (Srivastava et al. 2014), and drop path, also called stochastic depth (Huang et al.
// 2016). Used in training only: the rewrite `for_inference` removes both.
// Random numbers are a function of the sample's key, the operation and the element. The key follows
// from the run's seed, the step and the sample's id. So numbers of ranks, lanes (program replicas)
// and micro-batches do not change them.

inline constexpr std::size_t kKeyBytes = 8;  // bytes of a sample's random key, little-endian

struct DropoutAttributes {
  double rate = 0.5;           // probability that an element becomes 0, in [0, 1)
  bool whole_samples = false;  // drop path: each sample is kept or dropped as a whole
  // Number of this operation among those of the net that draw random numbers.
  std::uint64_t operation = 0;
};
// Threshold for 32-bit random numbers: elements with a smaller number are dropped, which has
// probability `rate`.
std::uint32_t dropout_threshold(double rate) noexcept;

// Dropout: x (N,...), keys u8 (N,kKeyBytes) -> y. Each element of y is x / (1 - rate), or 0 if it
// is dropped.
// The gradient is the same operation applied to dy.
extern const Operation kDropout;

}  // namespace winnow::train
