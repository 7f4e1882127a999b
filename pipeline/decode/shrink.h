#pragma once

#include <optional>

#include "common/image.h"

namespace winnow::pipeline {

struct Size {
  int height_px = 0;
  int width_px = 0;

  friend bool operator==(const Size&, const Size&) = default;
};

// The size of shrink()'s result; nullopt if the image would not be downscaled. Pure.
std::optional<Size> shrunk(Size size, int short_side_px) noexcept;

// Downscales an image whose shorter side exceeds `short_side_px` to that length, as torchvision's
// Resize(short_side_px) on PIL images (bilinear with antialias, the longer side truncated). nullopt
// for smaller images, and if `short_side_px` is 0. Pure.
std::optional<Image> shrink(ImageView image, int short_side_px);

// Copies a box of an image into an image of its own. Pure.
Image cut(ImageView image, const Box& box);

// The size of a picture at 1/scale of both sides, rounded up. Pure.
Size scaled_size(Size whole, int scale) noexcept;

// Downscales an image to 1/scale of both sides, rounded up: each pixel is the rounded average of a
// block of scale x scale pixels, counted from the top left; at the border of those that exist.
// Pure.
Image box_average(ImageView image, int scale);

}  // namespace winnow::pipeline
