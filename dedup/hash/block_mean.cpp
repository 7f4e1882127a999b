#include "dedup/hash/block_mean.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace winnow::dedup {
namespace {

constexpr int kSide = 256;
constexpr int kBlockSide = 16;
constexpr int kAcross = kSide / kBlockSide;
constexpr std::size_t kBlocks = kAcross * kAcross;
constexpr std::uint32_t kOne = 256;  // weights have 8 fractional bits

// Interpolation of one of 256 positions: pixels `first` and `second`, the second with that weight.
struct Mix {
  int first;
  int second;
  std::uint32_t weight;
};

// OpenCV's arithmetic step by step: another order would round some weights differently.
std::array<Mix, kSide> mixes_of(int length) {
  const double step = 1.0 / (static_cast<double>(kSide) / length);
  std::array<Mix, kSide> mixes;
  for (int i = 0; i < kSide; ++i) {
    const double at = step * (i + 0.5) - 0.5;
    const int first = static_cast<int>(std::floor(at));
    Mix& mix = mixes[static_cast<std::size_t>(i)];
    if (first < 0 || first >= length - 1) {
      const int end = first < 0 ? 0 : length - 1;
      mix = {end, end, 0};
    } else {
      const double weight = std::nearbyint((at - first) * kOne);  // rounds half to even
      mix = {first, first + 1, static_cast<std::uint32_t>(weight)};
    }
  }
  return mixes;
}

class BlockMeanStream final : public HashStream {
 public:
  BlockMeanStream(int height_px, int width_px, int channels)
      : channels_(static_cast<std::size_t>(channels)),
        down_(mixes_of(height_px)),
        across_(mixes_of(width_px)),
        above_(kSide * channels_),
        line_(kSide * channels_) {}

  void add(ImageView rows, ImageView) override {
    for (int y = 0; y < rows.height_px; ++y, ++row_) {
      if (next_ == kSide || row_ < down_[next_].first) continue;
      std::swap(above_, line_);
      resize_row(rows.row(y));
      for (; next_ < kSide && down_[next_].second == row_; ++next_) add_line();
    }
  }

  int finish(std::uint64_t* words) override {
    const std::uint64_t all = std::accumulate(sums_.begin(), sums_.end(), std::uint64_t{0});
    std::fill_n(words, kBlocks / 64, std::uint64_t{0});
    for (std::size_t i = 0; i < kBlocks; ++i) {
      const std::size_t byte = i / 8;
      // Bytes in order, with the lowest bit first in each.
      const std::size_t shift = 56 - byte % 8 * 8 + i % 8;
      words[byte / 8] |= std::uint64_t{sums_[i] * kBlocks >= all} << shift;
    }
    return 100;
  }

 private:
  void resize_row(const std::uint8_t* row) {
    std::uint32_t* to = line_.data();
    for (const Mix& mix : across_) {
      const std::uint8_t* a = row + static_cast<std::size_t>(mix.first) * channels_;
      const std::uint8_t* b = row + static_cast<std::size_t>(mix.second) * channels_;
      for (std::size_t c = 0; c < channels_; ++c) {
        *to++ = a[c] * (kOne - mix.weight) + b[c] * mix.weight;
      }
    }
  }

  // Interpolates row next_ of the small picture and adds its gray values to the sums of its blocks.
  void add_line() {
    const Mix& mix = down_[next_];
    const std::vector<std::uint32_t>& first = mix.first == mix.second ? line_ : above_;
    const auto value = [&](std::size_t i) {
      return (first[i] * (kOne - mix.weight) + line_[i] * mix.weight + kOne * kOne / 2) /
             (kOne * kOne);
    };
    std::uint64_t* sums = &sums_[next_ / kBlockSide * kAcross];
    for (std::size_t x = 0; x < kSide; ++x) {
      const std::size_t i = x * channels_;
      sums[x / kBlockSide] +=
          channels_ == 1
              ? value(i)
              : (9798 * value(i) + 19235 * value(i + 1) + 3735 * value(i + 2) + (1U << 14)) >> 15;
    }
  }

  const std::size_t channels_;
  const std::array<Mix, kSide> down_;
  const std::array<Mix, kSide> across_;
  std::vector<std::uint32_t> above_;  // the row before, resized horizontally
  std::vector<std::uint32_t> line_;   // the last row
  int row_ = 0;                       // next row of the picture
  std::size_t next_ = 0;              // next row of the small picture
  std::array<std::uint64_t, kBlocks> sums_{};
};

}  // namespace

std::unique_ptr<HashStream> begin_block_mean(int height_px, int width_px, int channels, int,
                                             ResampleWeights*) {
  return std::make_unique<BlockMeanStream>(height_px, width_px, channels);
}

}  // namespace winnow::dedup
