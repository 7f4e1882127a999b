#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/augment/ops/pixels.h"

namespace winnow::pipeline {

// Colour operations, in place, with the same pixels as Pillow's ImageEnhance and ImageOps, which
// torchvision calls for PIL images. `scratch` is a reusable buffer. Pure except for `pixels` and
// `scratch`; thread-safe with one scratch a thread.
// A factor of 1 changes nothing. 0 gives black, the mean gray, gray, and a smoothed picture
// respectively.
void adjust_brightness(PixelSpan pixels, double factor) noexcept;
void adjust_contrast(PixelSpan pixels, double factor) noexcept;
void adjust_saturation(PixelSpan pixels, double factor, std::vector<std::uint8_t>& scratch);
void adjust_sharpness(PixelSpan pixels, double factor, std::vector<std::uint8_t>& scratch);
// Rotates the hue by a share of the circle in [-0.5, 0.5], in 8-bit HSV. Even 0 rounds pixels.
void adjust_hue(PixelSpan pixels, double turn) noexcept;

void posterize(PixelSpan pixels, int bits) noexcept;         // keeps the highest 0 to 8 bits
void solarize(PixelSpan pixels, double threshold) noexcept;  // inverts values >= threshold
void invert(PixelSpan pixels) noexcept;
void autocontrast(PixelSpan pixels) noexcept;  // stretches each channel to 0..255
void equalize(PixelSpan pixels) noexcept;      // equalises each channel's histogram

}  // namespace winnow::pipeline
