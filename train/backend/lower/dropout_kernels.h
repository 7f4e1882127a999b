#pragma once

#include <cstdint>

#include "train/backend/lower/kernel_arguments.h"

// Arguments of the dropout kernel, see train/ops/dropout.h.
namespace winnow::train::kernels {

struct Dropout {
  Element type;
  const void* x;
  const std::uint8_t* keys;  // random keys, 8 bytes for each sample
  void* y;
  std::int64_t samples;
  std::int64_t elements;  // number of elements of a sample
  std::uint64_t operation;
  std::uint32_t threshold;
  float factor;  // factor for the elements that are kept
  bool whole_samples;
};

}  // namespace winnow::train::kernels
