#pragma once

#include <cstddef>
#include <cstdint>

#include "train/graph/operation.h"

namespace winnow::train {

// Dropout (Srivastava et al. 2014), and drop path, also called stochastic depth (Huang et al.
// 2016). Used in training only: `for_inference` removes them.
// Random numbers are a function of the sample's key, the operation and the element. The key follows
// from the run's seed, the step and the sample's id. So ranks, lanes and micro-batches do not
// change them.

inline constexpr std::size_t kKeyBytes = 8;  // per sample, little-endian

struct DropoutAttributes {
  double rate = 0.5;            // probability of a zero, in [0, 1)
  bool whole_samples = false;   // drop path: each sample is kept or dropped as a whole
  std::uint64_t operation = 0;  // number of this dropout within the net
};
// Elements whose random number is below this threshold are dropped.
std::uint32_t dropout_threshold(double rate) noexcept;

// x (N,...), keys u8 (N,kKeyBytes) -> y: x / (1 - rate), or 0.
// The gradient is the same operation applied to dy.
extern const Operation kDropout;

}  // namespace winnow::train
