#pragma once

#include "train/backend/lower/layer.h"
#include "train/backend/onednn/kernels.h"

namespace winnow::train::onednn {

// Copies the windows that a convolution with one group reads, one after the other.
struct Unfold {
  ConvExtents extents;
  Element type;   // type of x and patches
  const void* x;  // NHWC
  void* patches;  // (N*P*Q, R*S*C), zeros where a window leaves the image
};
void unfold(const Unfold& arguments, int threads);

// True if each window is one pixel, so that the patches are x itself.
bool is_unfolded(const ConvExtents& extents) noexcept;

std::size_t patches_bytes(const ConvExtents& extents, Element type) noexcept;

}  // namespace winnow::train::onednn
