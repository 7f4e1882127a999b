#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/sample.h"
#include "pipeline/augment/mix.h"

namespace winnow::pipeline {

// A batch of samples for a net. Pixels are u8 NHWC; all arrays have `size()` rows.
struct Batch {
  int height_px = 0;
  int width_px = 0;
  int channels = 0;
  std::vector<std::uint8_t> pixels;  // size * height * width * channels
  std::vector<SampleId> ids;
  std::vector<float> weights;                // 0: padding of the last evaluation batch
  std::vector<std::uint32_t> label_offsets;  // size + 1
  std::vector<std::int32_t> labels;          // sample i has [label_offsets[i], label_offsets[i+1])
  std::vector<float> label_weights;          // one a label: 1, or its share in a mixed sample
  std::vector<std::uint64_t> groups;         // XXH3-64 of the group key; 0: none

  // How the samples were mixed (all alike), and the partner of each: its own id if it was not
  // mixed.
  // Labels   A mixed sample has its own labels, followed by its partner's from `others` on.
  // Loss     own * w * loss(own labels) + (1 - own) * v * loss(partner's labels), with the weights
  //          w and v of both samples.
  // Weights  The sample's is own * w + (1 - own) * v; those of its labels are their shares of it.
  std::optional<Mix> mix;
  std::vector<SampleId> partners;
  std::vector<std::uint32_t> others;  // one a sample; label_offsets[i+1] if it was not mixed

  std::size_t size() const noexcept { return ids.size(); }
};

// The sum, modulo 2^64, of a hash of each sample: pixels, labels, weight, id, group, mixing, and
// position in the stream, starting at `begin`. The parts of a global batch on all ranks therefore
// sum to the same as the whole.
// Hash  XXH3-64 of: position, id, partner (uint64); weight, own share (float64); group (uint64);
//       box of the mix (4 int64); each label (int64) with its weight (float64); XXH3-64 of the
//       pixels.
std::uint64_t digest_of(const Batch& batch, std::uint64_t begin);

}  // namespace winnow::pipeline
