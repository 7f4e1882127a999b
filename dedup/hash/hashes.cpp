#include "dedup/hash/hashes.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/checksum.h"
#include "common/error.h"
#include "common/resample.h"

namespace winnow::dedup {
namespace {

constexpr int kDctSide = 32;
constexpr int kBlockSide = 8;

// cos(pi i / 64), i = 0..32, as constants: the last bit of the C library's cos depends on the
// machine.
constexpr std::array<double, 33> kCosines{
    0x1.0000000000000p+0, 0x1.ff621e3796d7ep-1, 0x1.fd88da3d12526p-1,
    0x1.fa7557f08a517p-1, 0x1.f6297cff75cb0p-1, 0x1.f0a7efb9230d7p-1,
    0x1.e9f4156c62ddap-1, 0x1.e212104f686e5p-1, 0x1.d906bcf328d46p-1,
    0x1.ced7af43cc773p-1, 0x1.c38b2f180bdb1p-1, 0x1.b728345196e3ep-1,
    0x1.a9b66290ea1a3p-1, 0x1.9b3e047f38741p-1, 0x1.8bc806b151741p-1,
    0x1.7b5df226aafafp-1, 0x1.6a09e667f3bcdp-1, 0x1.57d69348cec9fp-1,
    0x1.44cf325091dd6p-1, 0x1.30ff7fce17036p-1, 0x1.1c73b39ae68c9p-1,
    0x1.073879922ffedp-1, 0x1.e2b5d3806f63ep-2, 0x1.b5d1009e15cc2p-2,
    0x1.87de2a6aea964p-2, 0x1.58f9a75ab1fddp-2, 0x1.294062ed59f05p-2,
    0x1.f19f97b215f1ep-3, 0x1.8f8b83c69a60dp-3, 0x1.2c8106e8e613ap-3,
    0x1.917a6bc29b438p-4, 0x1.91f65f10dd824p-5, 0x0p+0,
};

constexpr double cosine(int i) {
  i %= 128;
  if (i > 64) i = 128 - i;
  return i <= 32 ? kCosines[static_cast<std::size_t>(i)]
                 : -kCosines[static_cast<std::size_t>(64 - i)];
}

// kBasis[k][n] = 2 cos(pi k (2n + 1) / 64): the first rows of the unnormalised DCT-II of length 32.
using Basis = std::array<std::array<double, kDctSide>, kBlockSide>;
constexpr Basis make_basis() {
  Basis basis{};
  for (int k = 0; k < kBlockSide; ++k) {
    for (int n = 0; n < kDctSide; ++n) {
      basis[static_cast<std::size_t>(k)][static_cast<std::size_t>(n)] =
          2.0 * cosine(k * (2 * n + 1));
    }
  }
  return basis;
}
constexpr Basis kBasis = make_basis();

// kBasis by columns.
constexpr auto make_columns() {
  std::array<std::array<double, kBlockSide>, kDctSide> columns{};
  for (std::size_t j = 0; j < kBlockSide; ++j) {
    for (std::size_t x = 0; x < kDctSide; ++x) columns[x][j] = kBasis[j][x];
  }
  return columns;
}
constexpr auto kColumns = make_columns();

// The low 8x8 block, DC included, of the two-dimensional DCT-II of a 32x32 gray image; every sum in
// ascending order. What is below 1e-6 is 0: where the exact sum is 0 the rounding noise of one
// summation order would otherwise decide the bits.
std::array<double, 64> low_dct(ImageView gray) {
  std::array<std::array<double, kDctSide>, kBlockSide> columns{};
  for (std::size_t y = 0; y < kDctSide; ++y) {
    const std::uint8_t* row = gray.row(static_cast<int>(y));
    std::array<double, kDctSide> values;
    std::copy(row, row + kDctSide, values.begin());
    for (std::size_t k = 0; k < kBlockSide; ++k) {
      for (std::size_t x = 0; x < kDctSide; ++x) columns[k][x] += kBasis[k][y] * values[x];
    }
  }
  // Eight sums side by side: each waits for its own last addition.
  std::array<double, 64> block{};
  for (std::size_t k = 0; k < kBlockSide; ++k) {
    std::array<double, kBlockSide> sums{};
    for (std::size_t x = 0; x < kDctSide; ++x) {
      for (std::size_t j = 0; j < kBlockSide; ++j) sums[j] += kColumns[x][j] * columns[k][x];
    }
    for (std::size_t j = 0; j < kBlockSide; ++j) {
      block[k * kBlockSide + j] = std::abs(sums[j]) < 1e-6 ? 0.0 : sums[j];
    }
  }
  return block;
}

// The first bit is the most significant (see CodeColumn).
void set_bits(const std::array<bool, 64>& bits, std::uint64_t* word) {
  *word = 0;
  for (const bool bit : bits) *word = *word << 1 | static_cast<std::uint64_t>(bit);
}

void phash(ImageView small, std::uint64_t* words) {
  const std::array<double, 64> block = low_dct(small);
  std::array<double, 64> halves = block;
  const auto upper = halves.begin() + 32;
  std::nth_element(halves.begin(), upper, halves.end());
  const double median = (*std::max_element(halves.begin(), upper) + *upper) / 2;
  std::array<bool, 64> bits{};
  std::transform(block.begin(), block.end(), bits.begin(), [&](double c) { return c > median; });
  set_bits(bits, words);
}

void dhash(ImageView small, std::uint64_t* words) {
  std::array<bool, 64> bits{};
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint8_t* p = small.row(static_cast<int>(i / 8)) + i % 8;
    bits[i] = p[1] > p[0];
  }
  set_bits(bits, words);
}

constexpr std::array kHashes{
    Hash{"phash", 1, 64, "signs of the low frequencies of a 32x32 DCT (imagehash.phash)", kDctSide,
         kDctSide, ResampleFilter::kLanczos, phash},
    Hash{"dhash", 1, 64, "signs of the horizontal gradients at 9x8 (imagehash.dhash)", 8, 9,
         ResampleFilter::kLanczos, dhash},
};

}  // namespace

void Hash::compute(ImageView gray, std::uint64_t* words) const {
  of_resized(resize(gray, height_px, width_px, filter).view(), words);
}

std::span<const Hash> hashes() { return kHashes; }

const Hash& find_hash(std::string_view name) {
  std::string known;
  for (const Hash& row : kHashes) {
    if (row.name == name) return row;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw UsageError("there is no hash '" + std::string(name) + "'; known: " + known);
}

std::string to_hex(std::span<const std::uint64_t> code) {
  std::string text;
  for (const std::uint64_t word : code) text += winnow::to_hex(word);
  return text;
}

}  // namespace winnow::dedup
