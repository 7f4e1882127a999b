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
  std::vector<std::uint8_t> pixels;  // (size, height, width, channels)
  std::vector<SampleId> ids;
  // Loss weight of each sample; 0: padding of the last evaluation batch.
  std::vector<float> weights;
  std::vector<std::uint32_t> label_offsets;  // size + 1 offsets into `labels`
  std::vector<std::int32_t> labels;   // labels of sample i: [label_offsets[i], label_offsets[i+1])
  std::vector<float> label_weights;   // weight of each label: 1, or its share in a mixed sample
  std::vector<std::uint64_t> groups;  // XXH3-64 of each sample's group key; 0: none

  // How the samples of the batch were mixed (all in the same way) by mixup or cutmix, and each
  // sample's partner; its own id if it was not mixed. nullopt: no mixing.
  // Labels   A mixed sample has its own labels, followed by its partner's, which begin at `others`.
  // Loss     own * w * loss(own labels) + (1 - own) * v * loss(partner's labels), where w and v are
  //          the weights of sample and partner
  // Weights  A sample's is own * w + (1 - own) * v; those of its labels are their shares of it.
  std::optional<Mix> mix;
  std::vector<SampleId> partners;
  // Where each sample's partner labels begin in `labels`; label_offsets[i+1] if not mixed.
  std::vector<std::uint32_t> others;

  std::size_t size() const noexcept { return ids.size(); }
};

// The sum, modulo 2^64, of one hash per sample: pixels, labels, weight, id, group, mixing, and
// position in the stream, counted from `begin`. The digests of a global batch's parts on all ranks
// thus add up to that of the whole batch.
// Hash  XXH3-64 of: position, id, partner (uint64); weight, own share (float64); group (uint64);
//       box of the mix (4 int64); each label (int64) with its weight (float64); XXH3-64 of the
//       pixels.
std::uint64_t digest_of(const Batch& batch, std::uint64_t begin);

}  // namespace winnow::pipeline
