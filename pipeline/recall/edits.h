#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/image.h"

namespace winnow::pipeline {

// One typical modification of a picture.
struct Edit {
  std::string_view family;  // "jpeg", "scale", ...
  std::string name;         // "jpeg quality 50"
  // Returns the edited picture, with the channels of its input (1 or 3, at least 1x1 px). Random
  // choices depend on the number of the picture. Pure.
  std::function<Image(ImageView, std::uint64_t picture)> apply;
};

// The edits that are tested:
// - JPEG of quality 10 to 95; gamma; Gaussian blur; few colours, as in GIF; gray
// - scaling to 25 to 200 %, with antialiasing
// - a light stripe like a watermark; a border
// - cropping 1 to 10 % of each side, from one corner more than from the other
// - rotation by 1 to 5 degrees, with black corners; mirroring
// - four copies with everything at once: cropped by up to 10 %, scaled by up to 2, gamma up to
//   1.25, JPEG
std::vector<Edit> common_edits();

}  // namespace winnow::pipeline
