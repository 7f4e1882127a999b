#pragma once

#include <cstdint>

#include "train/tensor/device_function.h"

namespace winnow::train {

// Random numbers of dropout, the same for the reference and all kernels: one SplitMix64 stream for
// each sample, with random access to its numbers.
// Linkage  Internal: each compilation of a kernel has its own copy.
// Source   Steele et al. 2014.

static WINNOW_DEVICE_FN std::uint64_t split_mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

// Start of the random stream of one sample, with this key, in one dropout operation of the net.
static WINNOW_DEVICE_FN std::uint64_t dropout_stream(std::uint64_t key, std::uint64_t operation) {
  return split_mix(key ^ operation);
}

// Returns number `i` of a stream: 32 random bits.
static WINNOW_DEVICE_FN std::uint32_t dropout_bits(std::uint64_t stream, std::uint64_t i) {
  return static_cast<std::uint32_t>(split_mix(stream + (i + 1) * 0x9E3779B97F4A7C15U) >> 32);
}

}  // namespace winnow::train
