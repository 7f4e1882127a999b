#pragma once

#include <cstdint>
#include <string>

namespace winnow::pipeline {

// A manifest's record of the stored variants (variants.h). The recipe is a text, so that code that
// only passes it on need not parse it.
struct StoredVariants {
  int copies = 0;  // 0: no variants
  std::string recipe = "none";
  int height_px = 0;
  int width_px = 0;
  std::uint64_t seed = 0;

  friend bool operator==(const StoredVariants&, const StoredVariants&) = default;
};

}  // namespace winnow::pipeline
