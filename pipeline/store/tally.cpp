#include "pipeline/store/tally.h"

#include <algorithm>
#include <numeric>

namespace winnow::pipeline {
namespace {

int common_side(int a, int b) noexcept {
  if (a == 0) return b;
  return b == 0 || a == b ? a : -1;
}

}  // namespace

PixelSums& PixelSums::operator+=(const PixelSums& more) noexcept {
  pixels += more.pixels;
  for (std::size_t c = 0; c < 3; ++c) {
    sum[c] += more.sum[c];
    sum_of_squares[c] += more.sum_of_squares[c];
  }
  return *this;
}

void Tally::add(ImageView image, Split split) {
  add(image.height_px, image.width_px, image.channels, sum_channels(image),
      static_cast<std::uint64_t>(image.height_px) * static_cast<std::uint64_t>(image.width_px),
      split);
}

void Tally::add(int height, int width, int channel_count, const ChannelSums& sums,
                std::uint64_t pixels, Split split) {
  ++images[static_cast<std::size_t>(split)];
  rgb_images += channel_count == 3 ? 1 : 0;
  height_px = common_side(height_px, height);
  width_px = common_side(width_px, width);
  Part& part = split == Split::kTrain ? train : rest;
  (channel_count == 3 ? part.rgb : part.gray) +=
      PixelSums{.pixels = pixels, .sum = sums.sum, .sum_of_squares = sums.sum_of_squares};
}

void Tally::add(const Tally& other) {
  for (std::size_t i = 0; i < images.size(); ++i) images[i] += other.images[i];
  rgb_images += other.rgb_images;
  height_px = common_side(height_px, other.height_px);
  width_px = common_side(width_px, other.width_px);
  train.gray += other.train.gray;
  train.rgb += other.train.rgb;
  rest.gray += other.rest.gray;
  rest.rgb += other.rest.rgb;
}

std::uint64_t Tally::total() const noexcept {
  return std::accumulate(images.begin(), images.end(), std::uint64_t{0});
}

int Tally::channels() const noexcept {
  if (total() == 0) return 0;
  return rgb_images > 0 ? 3 : 1;
}

PixelSums Tally::pixel_sums() const noexcept {
  const bool has_train = images[static_cast<std::size_t>(Split::kTrain)] > 0;
  const Part& part = has_train ? train : rest;  // no train split: the rest is all
  PixelSums gray = part.gray;
  if (channels() == 3) {
    gray.sum = {gray.sum[0], gray.sum[0], gray.sum[0]};
    gray.sum_of_squares.fill(gray.sum_of_squares[0]);
  }
  gray += part.rgb;
  return gray;
}

}  // namespace winnow::pipeline
