#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/sample.h"
#include "pipeline/augment/mix.h"

namespace winnow::pipeline {

// A run of samples ready for a network. Pixels are u8 NHWC; all arrays have `size()` rows.
struct Batch {
  int height_px = 0;
  int width_px = 0;
  int channels = 0;
  std::vector<std::uint8_t> pixels;  // size * height * width * channels
  std::vector<SampleId> ids;
  std::vector<float> weights;                // 0: padding of the last evaluation batch
  std::vector<std::uint32_t> label_offsets;  // size + 1
  std::vector<std::int32_t> labels;          // of sample i: [label_offsets[i], label_offsets[i+1])
  std::vector<float> label_weights;          // of each label: 1, or its part in a mixed sample
  std::vector<std::uint64_t> groups;         // XXH3-64 of the group key; 0: none

  // How the samples were mixed, all alike, and of each with which: its own id where it was not. The
  // labels of a mixed sample are its own and then those of the other, which begin at `others`. Its
  // loss is own * w * loss(own labels) + (1 - own) * v * loss(the other's), of w and v their
  // weights: its weight is that of both, own * w + (1 - own) * v, and the weights of its labels
  // their parts of it.
  std::optional<Mix> mix;
  std::vector<SampleId> partners;
  std::vector<std::uint32_t> others;  // size; label_offsets[i+1] where it was not mixed

  std::size_t size() const noexcept { return ids.size(); }
};

// Of every sample of a batch one hash over its pixels, labels, weight, id, group, what it was mixed
// with and how, and its position in the stream, which is that of the first one, `begin`, and on;
// their sum modulo 2^64. So the parts of a global batch that ranks have add up to the same as the
// whole. (XXH3-64 of: position, id, partner: uint64; weight, own share: float64; group: uint64; box
// of the mix: 4 int64; labels: int64 with a float64 of weight each; XXH3-64 of the pixels.)
std::uint64_t digest_of(const Batch& batch, std::uint64_t begin);

}  // namespace winnow::pipeline
