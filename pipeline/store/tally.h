#pragma once

#include <array>
#include <cstdint>

#include "common/image.h"
#include "common/sample.h"
#include "pipeline/store/channel_sums.h"

namespace winnow::pipeline {

// Exact sums of the 8-bit values of pixels, by channel.
struct PixelSums {
  std::uint64_t pixels = 0;  // number of values per channel
  std::array<std::uint64_t, 3> sum{};
  std::array<std::uint64_t, 3> sum_of_squares{};

  PixelSums& operator+=(const PixelSums& more) noexcept;
  friend bool operator==(const PixelSums&, const PixelSums&) = default;
};

// Counts and exact sums over readable images. All integers: the result does not depend on the order
// of adding.
struct Tally {
  struct Part {
    PixelSums gray;  // sums of gray images, in channel 0
    PixelSums rgb;

    friend bool operator==(const Part&, const Part&) = default;
  };

  std::array<std::uint64_t, kSplitCount> images{};  // number of images by split
  std::uint64_t rgb_images = 0;
  int height_px = 0;  // size of all images in pixels; 0: none yet, -1: sizes differ
  int width_px = 0;
  Part train;
  Part rest;

  void add(ImageView image, Split split);
  // Adds an image whose sums are known. `pixels` is less than height * width if the sums are those
  // of a scaled image.
  void add(int height, int width, int channel_count, const ChannelSums& sums, std::uint64_t pixels,
           Split split);
  void add(const Tally& other);

  std::uint64_t total() const noexcept;
  int channels() const noexcept;  // 0: no images, 1: all gray, else 3
  // Sums over the training images; over all images if there is no train split. If gray and colour
  // images are mixed, gray ones count in every channel.
  PixelSums pixel_sums() const noexcept;

  friend bool operator==(const Tally&, const Tally&) = default;
};

}  // namespace winnow::pipeline
