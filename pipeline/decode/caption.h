#pragma once

#include <string_view>

#include "common/image.h"

namespace winnow::pipeline {

inline constexpr int kCaptionHeightPx = 12;  // of a line of text

// How many pixels a line takes in width.
int caption_width_px(std::string_view text);

// Writes a line of text into an image of 3 channels, its upper left corner at (x, y), black, cut
// where the image ends. Characters beyond ASCII are written as '?'.
void write_caption(Image& image, int x, int y, std::string_view text);

}  // namespace winnow::pipeline
