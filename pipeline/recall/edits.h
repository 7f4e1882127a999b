#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/image.h"

namespace winnow::pipeline {

// One of the things that happen to pictures on their way through the world.
struct Edit {
  std::string_view family;  // "jpeg", "scale", ...
  std::string name;         // "jpeg quality 50"
  // The edited picture, of 1 or 3 channels as the one it is of, which is at least 1x1. What is
  // drawn at random depends on the number of the picture. Pure.
  std::function<Image(ImageView, std::uint64_t picture)> apply;
};

// JPEG of quality 10 to 95; scaled to 25 to 200 % with antialias; gamma; Gaussian blur; a light
// stripe as of a watermark; a border around it; 1 to 10 % of each side cropped, from one corner
// more than from the other; rotated by 1 to 5 degrees, the corners black; mirrored; few colours, as
// of GIF, and gray; and four copies that were cropped by up to 10 %, scaled by up to 2, given a
// gamma of up to 1.25 and encoded as JPEG, all at once.
std::vector<Edit> common_edits();

}  // namespace winnow::pipeline
