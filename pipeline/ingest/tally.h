#pragma once

#include <array>
#include <cstdint>

#include "common/image.h"
#include "common/sample.h"
#include "pipeline/store/manifest.h"

namespace winnow::pipeline {

// Counts and exact sums over readable images. Whole numbers throughout: the result depends on no
// order of adding.
struct Tally {
  struct Part {
    PixelSums gray;  // in channel 0
    PixelSums rgb;

    friend bool operator==(const Part&, const Part&) = default;
  };

  std::array<std::uint64_t, kSplitCount> images{};  // by split
  std::uint64_t rgb_images = 0;
  int height_px = 0;  // of all images; 0: none yet, -1: they differ
  int width_px = 0;
  Part train;
  Part rest;

  void add(ImageView image, Split split);
  void add(const Tally& other);
  // Sets split_counts, channels, height_px, width_px and pixel_sums.
  void write_to(Manifest& manifest) const;

  friend bool operator==(const Tally&, const Tally&) = default;
};

}  // namespace winnow::pipeline
