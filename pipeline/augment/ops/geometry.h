#pragma once

#include <array>
#include <cstdint>

#include "pipeline/augment/ops/pixels.h"

namespace winnow::pipeline {

enum class Interpolation { kNearest, kBilinear };

// Where a pixel of the output comes from: input (a x + b y + c, d x + e y + f), as Pillow's
// Image.transform takes it.
struct Affine {
  double a = 1, b = 0, c = 0;
  double d = 0, e = 1, f = 0;
};

// As torchvision's TrivialAugment and its kin have them. A shear moves a pixel by so many pixels
// for each one it is from the corner; its coefficient is the shear itself, where torchvision's is
// tan(atan(shear)), which differs in the last bit. Degrees count counter-clockwise about the
// middle.
Affine shear_x(double shear) noexcept;
Affine shear_y(double shear) noexcept;
Affine translation(int right_px, int down_px) noexcept;
Affine rotation(double degrees, int height_px, int width_px) noexcept;

// Pixels that Pillow's Image.transform gives, 0 where they come from outside. `out` has the size
// and channels of `in` and does not overlap it. Pure; safe from many threads.
void transform(ImageView in, const Affine& affine, Interpolation interpolation,
               PixelSpan out) noexcept;

// Image.rotate: turns of 180 degrees and, of squares, of 90 move whole pixels.
void rotate(ImageView in, double degrees, Interpolation interpolation, PixelSpan out) noexcept;

void flip_horizontally(PixelSpan pixels) noexcept;

// out(y, x) = image(y + top, x' + left), the image's reflection (2 1 0 1 2 ...) outside it, where
// x' counts from the other end when flipped. One channel becomes three by repetition. They do not
// overlap.
void place_reflected(const ImageView& image, int top, int left, bool flip, PixelSpan out) noexcept;

// Fills what of the box lies in the picture; a gray picture takes the first value.
void erase(PixelSpan pixels, const Box& box, const std::array<std::uint8_t, 3>& value) noexcept;

}  // namespace winnow::pipeline
