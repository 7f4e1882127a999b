#pragma once

#include <array>
#include <cstdint>

#include "pipeline/augment/ops/pixels.h"

namespace winnow::pipeline {

enum class Interpolation { kNearest, kBilinear };

// An affine map from output to input: pixel (x, y) comes from (a x + b y + c, d x + e y + f), as in
// Pillow's Image.transform.
struct Affine {
  double a = 1, b = 0, c = 0;
  double d = 0, e = 1, f = 0;
};

// Affine maps as in torchvision's TrivialAugment and RandAugment. A shear moves a pixel by `shear`
// per pixel of distance from the corner; torchvision computes tan(atan(shear)), which differs in
// the last bit. Angles are in degrees, counter-clockwise around the centre.
Affine shear_x(double shear) noexcept;
Affine shear_y(double shear) noexcept;
Affine translation(int right_px, int down_px) noexcept;
Affine rotation(double degrees, int height_px, int width_px) noexcept;

// Resamples a picture as Pillow's Image.transform; pixels from outside become 0. `out` has the size
// and channels of `in` and must not overlap it. Pure; thread-safe.
void transform(ImageView in, const Affine& affine, Interpolation interpolation,
               PixelSpan out) noexcept;

// Rotates as Pillow's Image.rotate: 180 degrees, and 90 for squares, move whole pixels.
void rotate(ImageView in, double degrees, Interpolation interpolation, PixelSpan out) noexcept;

void flip_horizontally(PixelSpan pixels) noexcept;

// Copies a part of an image: out(y, x) = image(y + top, x' + left), with reflection outside the
// image (2 1 0 1 2 ...). With `flip`, x' counts from the right end. Gray is repeated for three
// channels. Image and `out` must not overlap.
void place_reflected(const ImageView& image, int top, int left, bool flip, PixelSpan out) noexcept;

// Fills the part of `box` inside the picture with a colour. A gray picture uses the first value.
void erase(PixelSpan pixels, const Box& box, const std::array<std::uint8_t, 3>& value) noexcept;

}  // namespace winnow::pipeline
