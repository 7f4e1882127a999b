#include "dedup/hash/hashes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "common/checksum.h"
#include "common/error.h"
#include "dedup/hash/orientations.h"
#include "dedup/hash/pdq.h"
#include "dedup/hash/resized_hashes.h"

namespace winnow::dedup {
namespace {

using enum SmallRule::Order;

template <SmallRule::Order kOrder, int kHeight, int kWidth, auto kBits>
std::unique_ptr<HashStream> small(int height_px, int width_px, int channels,
                                  ResampleWeights* weights) {
  static constexpr SmallRule kRule{kOrder, kHeight, kWidth, kBits};
  return begin_small(kRule, height_px, width_px, channels, weights);
}

constexpr std::array kHashes{
    Hash{"phash", 1, 64, "low frequencies of a 32x32 DCT above their median (imagehash)",
         small<kGrayFirst, 32, 32, phash_bits>},
    Hash{"dhash", 1, 64, "signs of the horizontal gradients at 9x8 (imagehash)",
         small<kGrayFirst, 8, 9, dhash_bits>},
    Hash{"dhash_vertical", 1, 64, "signs of the vertical gradients at 8x9 (imagehash)",
         small<kGrayFirst, 9, 8, dhash_vertical_bits>},
    Hash{"ahash", 1, 64, "pixels at 8x8 above their mean (imagehash's average_hash)",
         small<kGrayFirst, 8, 8, ahash_bits>},
    Hash{"whash", 1, 64, "Haar's wavelet at 8x8 above its median (imagehash)",
         small<kGrayFirst, 0, 0, whash_bits>},
    Hash{"phash16", 1, 256, "as phash, of 64x64 and 16x16 frequencies (imagehash, hash_size 16)",
         small<kGrayFirst, 64, 64, phash16_bits>},
    Hash{"pdq", 1, 256, "frequencies 1..16 of a blurred 64x64 above their median (PDQ)", begin_pdq},
    Hash{"imagededup_phash", 1, 64, "as phash, resized before gray, median without DC (imagededup)",
         small<kResizeFirst, 32, 32, phash_or_equal_bits>},
    Hash{"imagededup_dhash", 1, 64, "as dhash, resized before gray (imagededup)",
         small<kResizeFirst, 8, 9, dhash_bits>},
    Hash{"imagededup_ahash", 1, 64, "as ahash, resized before gray (imagededup)",
         small<kResizeFirst, 8, 8, ahash_or_equal_bits>},
    Hash{"imagededup_whash", 1, 64, "as whash, of 256x256, resized before gray (imagededup)",
         small<kResizeFirst, 256, 256, whash_or_equal_bits>},
    Hash{"phash_mirrored", 1, 2 * 64, "phash, which finds mirror images too",
         small<kGrayFirst, 32, 32, phash_mirrored_bits>},
    Hash{"phash_dihedral", 1, 8 * 64, "phash, which finds mirrored and turned copies too",
         small<kGrayFirst, 32, 32, phash_dihedral_bits>},
    Hash{"phash16_mirrored", 1, 2 * 256, "phash16, which finds mirror images too",
         small<kGrayFirst, 64, 64, phash16_mirrored_bits>},
    Hash{"phash16_dihedral", 1, 8 * 256, "phash16, which finds mirrored and turned copies too",
         small<kGrayFirst, 64, 64, phash16_dihedral_bits>},
    Hash{"pdq_mirrored", 1, 2 * 256, "pdq, which finds mirror images too", begin_pdq_mirrored},
    Hash{"pdq_dihedral", 1, 8 * 256, "pdq, which finds mirrored and turned copies too",
         begin_pdq_dihedral},
};

}  // namespace

int orientations_of(std::string_view hash) noexcept {
  const std::string_view name = hash.substr(0, hash.find('@'));
  if (name.ends_with("_dihedral")) return 8;
  return name.ends_with("_mirrored") ? 2 : 1;
}

int rows_at_once(int width_px, int channels) noexcept {
  constexpr std::ptrdiff_t kBytesAtOnce = 48 << 10;
  const std::ptrdiff_t line = std::ptrdiff_t{width_px} * channels;
  return static_cast<int>(std::max<std::ptrdiff_t>(4, kBytesAtOnce / line / 4 * 4));
}

HashStreams::HashStreams(int height_px, int width_px, int channels,
                         std::span<const Hash* const> hashes, ResampleWeights& weights)
    : hashes_(hashes) {
  for (const Hash* hash : hashes) {
    streams_.push_back(hash->begin(height_px, width_px, channels, &weights));
  }
}

void HashStreams::add(ImageView rows, ImageView gray) {
  for (const auto& stream : streams_) stream->add(rows, gray);
}

std::vector<HashCode> HashStreams::finish() {
  std::vector<HashCode> codes(hashes_.size());
  for (std::size_t i = 0; i < codes.size(); ++i) {
    codes[i].words.resize(static_cast<std::size_t>(hashes_[i]->bits) / 64);
    codes[i].quality = streams_[i]->finish(codes[i].words.data());
  }
  return codes;
}

std::vector<HashCode> compute_hashes(ImageView image, std::span<const Hash* const> hashes,
                                     HashMemory& memory) {
  const int at_once = rows_at_once(image.width_px, image.channels);
  HashStreams streams(image.height_px, image.width_px, image.channels, hashes, memory.weights);
  for (int y = 0; y < image.height_px; y += at_once) {
    ImageView rows = image;
    rows.data = image.row(y);
    rows.height_px = std::min(at_once, image.height_px - y);
    ImageView gray = rows;
    if (image.channels != 1) {
      memory.gray.reshape(rows.height_px, rows.width_px, 1);
      to_gray(rows, memory.gray.pixels.data());
      gray = memory.gray.view();
    }
    streams.add(rows, gray);
  }
  return streams.finish();
}

HashCode compute_hash(ImageView image, const Hash& hash) {
  HashMemory memory;
  const Hash* const one = &hash;
  return std::move(compute_hashes(image, std::span(&one, 1), memory).front());
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

ScaledHash find_scaled_hash(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, int>, 3> kScales{
      {{"@1/2", 2}, {"@1/4", 4}, {"@1/8", 8}}};
  const std::size_t at = std::min(name.find('@'), name.size());
  const std::string_view suffix = name.substr(at);
  const Hash& hash = find_hash(name.substr(0, at));
  if (suffix.empty()) return {&hash, 1};
  const auto scale = std::ranges::find(kScales, suffix, [](auto& row) { return row.first; });
  if (scale != kScales.end()) return {&hash, scale->second};
  throw UsageError("'" + std::string(name) + "' names no scale; hashes are of all pixels, as " +
                   std::string(hash.name) + ", or of a scale: @1/2, @1/4 or @1/8");
}

int common_scale(std::span<const std::string> names) {
  int scale = 0;
  for (const std::string& name : names) {
    const int one = find_scaled_hash(name).scale;
    if (scale != 0 && one != scale) {
      throw UsageError("the hashes " + names.front() + " and " + name +
                       " are of two scales, and pictures are decoded once; give all hashes one");
    }
    scale = one;
  }
  return std::max(scale, 1);
}

std::string to_hex(std::span<const std::uint64_t> code) {
  std::string text;
  for (const std::uint64_t word : code) text += winnow::to_hex(word);
  return text;
}

}  // namespace winnow::dedup
