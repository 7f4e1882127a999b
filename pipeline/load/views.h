#pragma once

#include <cstdint>
#include <span>

#include "pipeline/load/batch.h"

namespace winnow::pipeline {

// One way to show an image: its part of the same size that begins at (top_px, left_px), outside the
// image its reflection (2 1 0 1 2 ...), and then mirrored left to right or not.
struct View {
  int top_px = 0;
  int left_px = 0;
  bool mirrored = false;
};

// Assigns `pixels`, of the size of batch.pixels and not overlapping it: the view of each image.
// Pure. Throws Error for another size.
void show(const Batch& batch, const View& view, std::span<std::uint8_t> pixels);

}  // namespace winnow::pipeline
