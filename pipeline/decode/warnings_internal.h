#pragma once

#include <string>

#include "pipeline/decode/decode.h"

namespace winnow::pipeline {

// Records the warnings of a decoder in the image: the first, and their number. None if `count` is
// 0.
inline void note_warnings(DecodedImage& image, std::string first, int count) {
  if (count == 0) return;
  image.damage = Damage::kWarning;
  image.warning = std::move(first);
  if (count > 1) image.warning += " (the first of " + std::to_string(count) + " warnings)";
}

}  // namespace winnow::pipeline
