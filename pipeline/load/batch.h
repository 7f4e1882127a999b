#pragma once

#include <cstdint>
#include <vector>

#include "common/sample.h"

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
  std::vector<std::uint64_t> groups;         // XXH3-64 of the group key; 0: none

  std::size_t size() const noexcept { return ids.size(); }
};

}  // namespace winnow::pipeline
