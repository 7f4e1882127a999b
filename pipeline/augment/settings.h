#pragma once

#include <cstdint>
#include <string>

namespace winnow::pipeline {

// How a cache's augmented variants were made (variants.h), as its manifest records it. The recipe
// is a text, so that code that only passes it on need not parse it.
struct StoredVariants {
  int copies = 0;  // number of variants of each training image; 0: no variants
  std::string recipe = "none";
  int height_px = 0;
  int width_px = 0;
  std::uint64_t seed = 0;

  friend bool operator==(const StoredVariants&, const StoredVariants&) = default;
};

}  // namespace winnow::pipeline
