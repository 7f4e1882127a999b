#include "pipeline/ingest/tally.h"

#include <algorithm>

namespace winnow::pipeline {
namespace {

void add_sums(PixelSums& to, const PixelSums& from) {
  to.pixels += from.pixels;
  for (std::size_t c = 0; c < 3; ++c) {
    to.sum[c] += from.sum[c];
    to.sum_of_squares[c] += from.sum_of_squares[c];
  }
}

// A byte of a row belongs to channel (place % channels): 48 lanes hold whole pixels of 1 and of 3
// channels, and the compiler makes vector code of a loop of fixed length.
constexpr std::size_t kLanes = 48;

struct Lanes {
  std::array<std::uint32_t, kLanes> sum{};
  std::array<std::uint32_t, kLanes> sum_of_squares{};

  void add(const std::uint8_t* bytes) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      const std::uint32_t value = bytes[i];
      sum[i] += value;
      sum_of_squares[i] += value * value;
    }
  }
  void drain_to(PixelSums& sums, std::size_t channels) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      sums.sum[i % channels] += sum[i];
      sums.sum_of_squares[i % channels] += sum_of_squares[i];
    }
    *this = {};
  }
};
constexpr int kBlocksPerDrain = 65536;  // 255 * 255 * 65536 < 2^32

PixelSums sum_pixels(ImageView image) {
  PixelSums sums;
  const auto channels = static_cast<std::size_t>(image.channels);
  const auto row_bytes = static_cast<std::size_t>(image.width_px) * channels;
  sums.pixels =
      static_cast<std::uint64_t>(image.height_px) * static_cast<std::uint64_t>(image.width_px);
  Lanes lanes;
  int blocks = 0;
  for (int y = 0; y < image.height_px; ++y) {
    const std::uint8_t* row = image.row(y);
    std::size_t x = 0;
    for (; x + kLanes <= row_bytes; x += kLanes) {
      lanes.add(row + x);
      if (++blocks == kBlocksPerDrain) {
        lanes.drain_to(sums, channels);
        blocks = 0;
      }
    }
    for (; x < row_bytes; ++x) {
      const std::uint64_t value = row[x];
      sums.sum[x % channels] += value;
      sums.sum_of_squares[x % channels] += value * value;
    }
  }
  lanes.drain_to(sums, channels);
  return sums;
}

int common_side(int a, int b) noexcept {
  if (a == 0) return b;
  return b == 0 || a == b ? a : -1;
}

}  // namespace

void Tally::add(ImageView image, Split split) {
  ++images[static_cast<std::size_t>(split)];
  rgb_images += image.channels == 3 ? 1 : 0;
  height_px = common_side(height_px, image.height_px);
  width_px = common_side(width_px, image.width_px);
  Part& part = split == Split::kTrain ? train : rest;
  add_sums(image.channels == 3 ? part.rgb : part.gray, sum_pixels(image));
}

void Tally::add(const Tally& other) {
  for (std::size_t i = 0; i < images.size(); ++i) images[i] += other.images[i];
  rgb_images += other.rgb_images;
  height_px = common_side(height_px, other.height_px);
  width_px = common_side(width_px, other.width_px);
  add_sums(train.gray, other.train.gray);
  add_sums(train.rgb, other.train.rgb);
  add_sums(rest.gray, other.rest.gray);
  add_sums(rest.rgb, other.rest.rgb);
}

void Tally::write_to(Manifest& manifest) const {
  manifest.split_counts = images;
  std::uint64_t total = 0;
  for (const std::uint64_t count : images) total += count;
  manifest.channels = total == 0 ? 0 : rgb_images > 0 ? 3 : 1;
  manifest.height_px = std::max(0, height_px);
  manifest.width_px = std::max(0, width_px);
  const bool has_train = images[static_cast<std::size_t>(Split::kTrain)] > 0;
  const Part& part = has_train ? train : rest;  // no train split: the rest is all
  PixelSums gray = part.gray;
  if (manifest.channels == 3) {
    gray.sum = {gray.sum[0], gray.sum[0], gray.sum[0]};
    gray.sum_of_squares.fill(gray.sum_of_squares[0]);
  }
  manifest.pixel_sums = part.rgb;
  add_sums(manifest.pixel_sums, gray);
}

}  // namespace winnow::pipeline
