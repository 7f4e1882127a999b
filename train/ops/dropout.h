#pragma once

#include <cstddef>
#include <cstdint>

#include "train/graph/operation.h"

namespace winnow::train {

// Dropout (Srivastava et al. 2014) and drop path, also called stochastic depth (Huang et al. 2016).
// Training only: `for_inference` takes them out.
//
// Random numbers are a function of the sample's key, the operation and the element. The key follows
// from the run's seed, the step and the sample's id, so ranks, lanes and micro-batches change none.

inline constexpr std::size_t kKeyBytes = 8;  // of a sample, little-endian

struct DropoutAttributes {
  double rate = 0.5;            // share of zeros, in [0, 1)
  bool whole_samples = false;   // drop path: a sample is kept or dropped as a whole
  std::uint64_t operation = 0;  // its number among those of the net
};
// An element whose number is below this is dropped.
std::uint32_t dropout_threshold(double rate) noexcept;

// x (N,...), keys u8 (N,kKeyBytes) -> y: x / (1 - rate), or 0. The gradient is the same of dy.
extern const Operation kDropout;

}  // namespace winnow::train
