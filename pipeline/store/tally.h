#pragma once

#include <array>
#include <cstdint>

#include "common/image.h"
#include "common/sample.h"
#include "pipeline/store/channel_sums.h"

namespace winnow::pipeline {

// Exact sums over 8-bit values.
struct PixelSums {
  std::uint64_t pixels = 0;  // per channel
  std::array<std::uint64_t, 3> sum{};
  std::array<std::uint64_t, 3> sum_of_squares{};

  PixelSums& operator+=(const PixelSums& more) noexcept;
  friend bool operator==(const PixelSums&, const PixelSums&) = default;
};

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
  // Of an image whose sums are known, of so many pixels: fewer than it has where they are of a
  // scale of it.
  void add(int height, int width, int channel_count, const ChannelSums& sums, std::uint64_t pixels,
           Split split);
  void add(const Tally& other);

  std::uint64_t total() const noexcept;
  int channels() const noexcept;  // 0: no images, 1: all are gray, else 3
  // Over the training images, all of them where there is no train split; gray images count in every
  // channel of a mixed set.
  PixelSums pixel_sums() const noexcept;

  friend bool operator==(const Tally&, const Tally&) = default;
};

}  // namespace winnow::pipeline
