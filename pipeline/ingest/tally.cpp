#include "pipeline/ingest/tally.h"

#include <algorithm>

#include "common/channel_sums.h"

namespace winnow::pipeline {
namespace {

void add_sums(PixelSums& to, const PixelSums& from) {
  to.pixels += from.pixels;
  for (std::size_t c = 0; c < 3; ++c) {
    to.sum[c] += from.sum[c];
    to.sum_of_squares[c] += from.sum_of_squares[c];
  }
}

PixelSums sum_pixels(ImageView image) {
  const ChannelSums sums = sum_channels(image);
  return {.pixels = static_cast<std::uint64_t>(image.height_px) *
                    static_cast<std::uint64_t>(image.width_px),
          .sum = sums.sum,
          .sum_of_squares = sums.sum_of_squares};
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
