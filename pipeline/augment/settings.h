#pragma once

#include <cstdint>
#include <string>

namespace winnow::pipeline {

// What a manifest records of the variants that a cache stores (variants.h): the recipe is text, for
// those that only hand it on.
struct StoredVariants {
  int copies = 0;  // 0: there are none
  std::string recipe = "none";
  int height_px = 0;
  int width_px = 0;
  std::uint64_t seed = 0;

  friend bool operator==(const StoredVariants&, const StoredVariants&) = default;
};

}  // namespace winnow::pipeline
