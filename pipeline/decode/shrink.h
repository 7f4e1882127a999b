#pragma once

#include <optional>

#include "common/image.h"

namespace winnow::pipeline {

// An image whose shorter side is longer than `short_side`, made so long: as Resize(short_side) of
// torchvision does with images of Pillow's (bilinear with antialias, the longer side truncated).
// Nothing for other images. Pure.
std::optional<Image> shrink(ImageView image, int short_side);

}  // namespace winnow::pipeline
