#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/augment/ops/pixels.h"

namespace winnow::pipeline {

// Changes of colour, in place, with the pixels that Pillow's ImageEnhance and ImageOps give, which
// torchvision calls for PIL images. Pure but for `pixels` and `scratch`, which keeps its memory
// from one call to the next; safe from many threads with a scratch each.
//
// A factor of 1 changes nothing, 0 gives black, the mean gray, gray or a smoothed picture.
void adjust_brightness(PixelSpan pixels, double factor) noexcept;
void adjust_contrast(PixelSpan pixels, double factor) noexcept;
void adjust_saturation(PixelSpan pixels, double factor, std::vector<std::uint8_t>& scratch);
void adjust_sharpness(PixelSpan pixels, double factor, std::vector<std::uint8_t>& scratch);
// Turns the hue by a share of the circle in [-0.5, 0.5], by way of 8-bit HSV: 0 too rounds pixels.
void adjust_hue(PixelSpan pixels, double turn) noexcept;

void posterize(PixelSpan pixels, int bits) noexcept;         // keeps the highest 0 to 8 bits
void solarize(PixelSpan pixels, double threshold) noexcept;  // inverts values that reach it
void invert(PixelSpan pixels) noexcept;
void autocontrast(PixelSpan pixels) noexcept;  // each channel stretched to 0..255
void equalize(PixelSpan pixels) noexcept;      // each channel's histogram

}  // namespace winnow::pipeline
