#pragma once

#include <cstdint>
#include <span>

#include "pipeline/load/batch.h"

namespace winnow::pipeline {

// A view of an image for test-time augmentation: the part of the same size that begins at (top_px,
// left_px), with reflection outside the image (2 1 0 1 2 ...), then mirrored left to right if
// requested.
struct View {
  int top_px = 0;
  int left_px = 0;
  bool mirrored = false;
};

// Writes the view of each image of a batch to `pixels`, which has the size of batch.pixels and must
// not overlap it. Pure. Throws Error for another size.
void show(const Batch& batch, const View& view, std::span<std::uint8_t> pixels);

}  // namespace winnow::pipeline
