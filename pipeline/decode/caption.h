#pragma once

#include <string_view>

#include "common/image.h"

namespace winnow::pipeline {

inline constexpr int kCaptionHeightPx = 12;  // height of a line of text

// The width in pixels of a line of text as write_caption() draws it.
int caption_width_px(std::string_view text);

// Draws a line of black text into an image of 3 channels, with its upper left corner at (x, y), cut
// off at the border. Characters beyond ASCII become '?'.
void write_caption(Image& image, int x, int y, std::string_view text);

}  // namespace winnow::pipeline
