#include "dedup/hash/resized_hashes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>

#include "dedup/hash/cosines_internal.h"
#include "dedup/hash/turned_internal.h"

namespace winnow::dedup {
namespace {

// The first bit is the most significant (see CodeColumn).
template <std::size_t kBits>
void set_bits(const std::array<bool, kBits>& bits, std::uint64_t* words) {
  static_assert(kBits % 64 == 0);
  for (std::size_t i = 0; i < kBits; ++i)
    words[i / 64] = words[i / 64] << 1 | std::uint64_t{bits[i]};
}

// Sets the bits of values above `middle`, or equal to it if `or_equal`.
template <class T, std::size_t kBits>
void set_above(const std::array<T, kBits>& values, T middle, bool or_equal, std::uint64_t* words) {
  std::array<bool, kBits> bits;
  for (std::size_t i = 0; i < kBits; ++i) {
    bits[i] = values[i] > middle || (or_equal && values[i] == middle);
  }
  set_bits(bits, words);
}

// Twice the median of an even number of values: the sum of the two middle ones.
template <class T, std::size_t kCount>
T twice_median(std::array<T, kCount> values) {
  static_assert(kCount % 2 == 0);
  const auto upper = values.begin() + kCount / 2;
  std::nth_element(values.begin(), upper, values.end());
  return *std::max_element(values.begin(), upper) + *upper;
}

// kDctBasis[k][n] = 2 cos(pi k (2n + 1) / 2N), k < N/4: the first rows of the unnormalised DCT-II
// of length N.
template <std::size_t kSide>
constexpr auto make_dct_basis() {
  std::array<std::array<double, kSide>, kSide / 4> basis{};
  constexpr int kStep = 64 / static_cast<int>(kSide);
  for (std::size_t k = 0; k < kSide / 4; ++k) {
    for (std::size_t n = 0; n < kSide; ++n) {
      basis[k][n] = 2.0 * cosine(kStep * static_cast<int>(k * (2 * n + 1)));
    }
  }
  return basis;
}
// Aligned to a cache line, like the table of PDQ: loads across two lines cost 7 % of an ingest of
// small images.
template <std::size_t kSide>
alignas(64) constexpr auto kDctBasis = make_dct_basis<kSide>();

// The same by columns.
template <std::size_t kSide>
constexpr auto make_columns() {
  std::array<std::array<double, kSide / 4>, kSide> columns{};
  for (std::size_t j = 0; j < kSide / 4; ++j) {
    for (std::size_t x = 0; x < kSide; ++x) columns[x][j] = kDctBasis<kSide>[j][x];
  }
  return columns;
}
template <std::size_t kSide>
constexpr auto kColumns = make_columns<kSide>();

// The low-frequency block (a quarter of the side, DC included) of the two-dimensional DCT-II of a
// square gray image.
// Every sum is added in ascending order. Values below 1e-6 become 0, because otherwise rounding
// noise would decide bits whose exact sum is 0.
template <std::size_t kSide>
std::array<double, kSide * kSide / 16> low_dct(ImageView gray) {
  constexpr std::size_t kLow = kSide / 4;
  std::array<std::array<double, kSide>, kLow> columns{};
  for (std::size_t y = 0; y < kSide; ++y) {
    const std::uint8_t* row = gray.row(static_cast<int>(y));
    std::array<double, kSide> values;
    std::copy(row, row + kSide, values.begin());
    for (std::size_t k = 0; k < kLow; ++k) {
      for (std::size_t x = 0; x < kSide; ++x) columns[k][x] += kDctBasis<kSide>[k][y] * values[x];
    }
  }
  // Sums are computed side by side, since each waits for its own last addition.
  std::array<double, kLow * kLow> block{};
  for (std::size_t k = 0; k < kLow; ++k) {
    std::array<double, kLow> sums{};
    for (std::size_t x = 0; x < kSide; ++x) {
      for (std::size_t j = 0; j < kLow; ++j) sums[j] += kColumns<kSide>[x][j] * columns[k][x];
    }
    for (std::size_t j = 0; j < kLow; ++j) {
      block[k * kLow + j] = std::abs(sums[j]) < 1e-6 ? 0.0 : sums[j];
    }
  }
  return block;
}

// The codes of the first `orientations` orientations of an image of kSide x kSide.
template <std::size_t kSide>
void phash_of(ImageView small, int orientations, std::uint64_t* words) {
  constexpr std::size_t kLow = kSide / 4;
  const auto block = low_dct<kSide>(small);
  for (int k = 0; k < orientations; ++k) {
    const auto values = turned<kLow, 0>(block, k);
    set_above(values, twice_median(values) / 2, false, words);
    words += kLow * kLow / 64;
  }
}

void ahash_of(ImageView small, bool or_equal, std::uint64_t* words) {
  std::array<int, 64> values;
  int sum = 0;
  for (std::size_t i = 0; i < 64; ++i) {
    sum += small.row(static_cast<int>(i / 8))[i % 8];
    values[i] = 64 * small.row(static_cast<int>(i / 8))[i % 8];
  }
  set_above(values, sum, or_equal, words);
}

// The Haar wavelet only needs sums of blocks, so there is no rounding.
void whash_of(ImageView small, bool or_equal, std::uint64_t* words) {
  const int block = small.height_px / 8;
  std::array<std::int64_t, 64> sums{};
  for (int y = 0; y < small.height_px; ++y) {
    for (int x = 0; x < small.width_px; ++x) {
      sums[static_cast<std::size_t>(y / block * 8 + x / block)] += small.row(y)[x];
    }
  }
  const std::int64_t middle = twice_median(sums);
  for (std::int64_t& sum : sums) sum *= 2;
  set_above(sums, middle, or_equal, words);
}

class SmallStream final : public HashStream {
 public:
  SmallStream(const SmallRule& rule, int orientations, RowResizer resizer)
      : rule_(rule), orientations_(orientations), resizer_(std::move(resizer)) {}

  void add(ImageView rows, ImageView gray) override {
    resizer_.add(rule_.order == SmallRule::Order::kGrayFirst ? gray : rows);
  }
  int finish(std::uint64_t* words) override {
    Image small = resizer_.finish();
    if (small.channels != 1) small = to_gray(small.view());
    rule_.bits(small.view(), orientations_, words);
    return 100;
  }

 private:
  const SmallRule& rule_;
  const int orientations_;
  RowResizer resizer_;
};

}  // namespace

void ahash_bits(ImageView small, std::uint64_t* words) { ahash_of(small, false, words); }
void ahash_or_equal_bits(ImageView small, std::uint64_t* words) { ahash_of(small, true, words); }

void dhash_bits(ImageView small, std::uint64_t* words) {
  std::array<bool, 64> bits;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint8_t* p = small.row(static_cast<int>(i / 8)) + i % 8;
    bits[i] = p[1] > p[0];
  }
  set_bits(bits, words);
}

void dhash_vertical_bits(ImageView small, std::uint64_t* words) {
  std::array<bool, 64> bits;
  for (std::size_t i = 0; i < 64; ++i) {
    const int y = static_cast<int>(i / 8);
    bits[i] = small.row(y + 1)[i % 8] > small.row(y)[i % 8];
  }
  set_bits(bits, words);
}

void phash_bits(ImageView small, int orientations, std::uint64_t* words) {
  phash_of<32>(small, orientations, words);
}
void phash16_bits(ImageView small, int orientations, std::uint64_t* words) {
  phash_of<64>(small, orientations, words);
}

void phash_or_equal_bits(ImageView small, std::uint64_t* words) {
  const auto block = low_dct<32>(small);
  std::array<double, 63> others;
  std::copy(block.begin() + 1, block.end(), others.begin());
  const auto middle = others.begin() + 31;
  std::nth_element(others.begin(), middle, others.end());
  set_above(block, *middle, true, words);
}

void whash_bits(ImageView small, std::uint64_t* words) { whash_of(small, false, words); }
void whash_or_equal_bits(ImageView small, std::uint64_t* words) { whash_of(small, true, words); }

std::unique_ptr<HashStream> begin_small(const SmallRule& rule, int height_px, int width_px,
                                        int channels, int orientations, ResampleWeights* weights) {
  const auto shorter = static_cast<unsigned>(std::min(height_px, width_px));
  const int square = std::max(8, static_cast<int>(std::bit_floor(shorter)));
  RowResizer resizer(
      {height_px, width_px, rule.order == SmallRule::Order::kGrayFirst ? 1 : channels,
       rule.height_px == 0 ? square : rule.height_px, rule.width_px == 0 ? square : rule.width_px},
      ResampleFilter::kLanczos, weights);
  return std::make_unique<SmallStream>(rule, orientations, std::move(resizer));
}

}  // namespace winnow::dedup
