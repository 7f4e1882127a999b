#include "dedup/hash/features.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "common/resample.h"

namespace winnow::dedup {

float sharpness(ImageView gray) {
  if (gray.height_px < 3 || gray.width_px < 3) return 0.0F;
  std::int64_t sum = 0;
  std::int64_t squares = 0;
  for (int y = 1; y + 1 < gray.height_px; ++y) {
    const std::uint8_t* above = gray.row(y - 1);
    const std::uint8_t* row = gray.row(y);
    const std::uint8_t* below = gray.row(y + 1);
    // A row's sums fit in 32 bits up to 4,000 pixels: blocks keep the loop narrow.
    constexpr int kBlock = 2048;
    for (int begin = 1; begin + 1 < gray.width_px; begin += kBlock) {
      const int end = std::min(begin + kBlock, gray.width_px - 1);
      std::int32_t part = 0;
      std::uint32_t part_squares = 0;
      for (int x = begin; x < end; ++x) {
        const std::int32_t value = above[x] + below[x] + row[x - 1] + row[x + 1] - 4 * row[x];
        part += value;
        part_squares += static_cast<std::uint32_t>(value * value);
      }
      sum += part;
      squares += part_squares;
    }
  }
  const double count = static_cast<double>(gray.height_px - 2) * (gray.width_px - 2);
  const double mean = static_cast<double>(sum) / count;
  return static_cast<float>(std::max(0.0, static_cast<double>(squares) / count - mean * mean));
}

// PDQ repeats the pixels of images smaller than 64x64, and so do we: interpolated ones would make
// every step too small to count.
float quality(ImageView gray) {
  constexpr std::size_t kSide = 64;
  const Image small = resize(gray, std::min<int>(kSide, gray.height_px),
                             std::min<int>(kSide, gray.width_px), ResampleFilter::kBilinear);
  const auto height = static_cast<std::size_t>(small.height_px);
  const auto width = static_cast<std::size_t>(small.width_px);
  std::array<std::array<int, kSide>, kSide> p;
  for (std::size_t i = 0; i < kSide; ++i) {
    const std::size_t row = (2 * i + 1) * height / (2 * kSide) * width;
    for (std::size_t j = 0; j < kSide; ++j) {
      p[i][j] = small.pixels[row + (2 * j + 1) * width / (2 * kSide)];
    }
  }
  int gradients = 0;
  for (std::size_t i = 0; i < kSide; ++i) {
    for (std::size_t j = 0; j + 1 < kSide; ++j) {
      gradients += std::abs(p[i][j + 1] - p[i][j]) * 100 / 255;
      gradients += std::abs(p[j + 1][i] - p[j][i]) * 100 / 255;
    }
  }
  return std::min(100.0F, static_cast<float>(gradients) / 90.0F);
}

}  // namespace winnow::dedup
