#pragma once

#include <optional>

#include "common/image.h"

namespace winnow::pipeline {

struct Size {
  int height_px = 0;
  int width_px = 0;

  friend bool operator==(const Size&, const Size&) = default;
};

// What shrink() makes of a size; nothing where it makes nothing. Pure.
std::optional<Size> shrunk(Size size, int short_side_px) noexcept;

// An image whose shorter side is longer than `short_side_px`, made so long: as
// Resize(short_side_px) of torchvision does with images of Pillow's (bilinear with antialias, the
// longer side truncated). Nothing for other images, and for a side of 0. Pure.
std::optional<Image> shrink(ImageView image, int short_side_px);

// The pixels of a box that lies in the image. Pure.
Image cut(ImageView image, const Box& box);

// The size of a picture at 1/scale of both its sides, rounded up. Pure.
Size scaled_size(Size whole, int scale) noexcept;

// An image at 1/scale of both its sides, rounded up: the averages, rounded, of blocks of scale x
// scale pixels from the top left, of those pixels that there are. Pure.
Image box_average(ImageView image, int scale);

}  // namespace winnow::pipeline
