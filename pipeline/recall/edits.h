#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/image.h"

namespace winnow::pipeline {

// One typical edit of a picture, such as saving it as JPEG, to test which duplicates a hash finds.
struct Edit {
  std::string_view family;  // kind of the edit: "jpeg", "scale", ...
  std::string name;         // name of the edit: "jpeg quality 50"
  // Returns the edited picture, with as many channels as the input (1 or 3) and at least 1x1 px.
  // Random choices depend on the number `picture` alone. Pure.
  std::function<Image(ImageView, std::uint64_t picture)> apply;
};

// All edits by which recall is measured:
// - JPEG of quality 10 to 95; gamma; Gaussian blur; few colours, as in GIF; gray
// - scaling to 25 to 200 %, with antialiasing
// - a light stripe like a watermark; a border
// - cropping 1 to 10 % of each side, from one corner more than from the other
// - rotation by 1 to 5 degrees, with black corners; mirroring
// - four combinations of edits: cropped by up to 10 %, scaled by up to 2, gamma up to 1.25, JPEG
std::vector<Edit> common_edits();

}  // namespace winnow::pipeline
