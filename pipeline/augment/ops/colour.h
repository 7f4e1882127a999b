#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/augment/ops/pixels.h"

namespace winnow::pipeline {

// Colour operations in place, with the same results as Pillow's ImageEnhance and ImageOps, which
// torchvision calls for PIL images. `scratch` is a reusable buffer. Pure except for `pixels` and
// `scratch`; thread-safe with one `scratch` per thread.
//
// A factor blends a degenerate picture (at 0) with the given one (at 1): at 0 brightness gives
// black, contrast the mean gray, saturation a gray picture, sharpness a smoothed one.
void adjust_brightness(PixelSpan pixels, double factor) noexcept;
void adjust_contrast(PixelSpan pixels, double factor) noexcept;
void adjust_saturation(PixelSpan pixels, double factor, std::vector<std::uint8_t>& scratch);
void adjust_sharpness(PixelSpan pixels, double factor, std::vector<std::uint8_t>& scratch);
// Rotates the hue by a share of the full circle in [-0.5, 0.5], in 8-bit HSV. Even 0 rounds pixels.
void adjust_hue(PixelSpan pixels, double turn) noexcept;

void posterize(PixelSpan pixels, int bits) noexcept;  // keeps the highest 0 to 8 bits of each value
void solarize(PixelSpan pixels, double threshold) noexcept;  // inverts values >= threshold
void invert(PixelSpan pixels) noexcept;
void autocontrast(PixelSpan pixels) noexcept;  // stretches each channel to 0..255
void equalize(PixelSpan pixels) noexcept;      // equalises each channel's histogram

}  // namespace winnow::pipeline
