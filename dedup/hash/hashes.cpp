#include "dedup/hash/hashes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "common/checksum.h"
#include "common/error.h"
#include "common/row_called.h"
#include "dedup/hash/block_mean.h"
#include "dedup/hash/hash_name.h"
#include "dedup/hash/pdq.h"
#include "dedup/hash/resized_hashes.h"

namespace winnow::dedup {
namespace {

using enum SmallRule::Order;

// Adapts bit functions with and without orientations.
template <auto kBits>
void codes_of(ImageView small, int orientations, std::uint64_t* words) {
  if constexpr (requires { kBits(small, orientations, words); }) {
    kBits(small, orientations, words);
  } else {
    kBits(small, words);
  }
}

template <SmallRule::Order kOrder, int kHeight, int kWidth, auto kBits>
std::unique_ptr<HashStream> small(int height_px, int width_px, int channels, int orientations,
                                  ResampleWeights* weights) {
  static constexpr SmallRule kRule{kOrder, kHeight, kWidth, codes_of<kBits>};
  return begin_small(kRule, height_px, width_px, channels, orientations, weights);
}

constexpr std::array kHashes{
    Hash{.name = "phash",
         .most_orientations = 8,
         .usual_threshold = 4,
         .usual_threshold_turned = 3,
         .what = "low frequencies of a 32x32 DCT above their median (imagehash)",
         .begin = small<kGrayFirst, 32, 32, phash_bits>},
    Hash{.name = "dhash",
         .usual_threshold = 1,
         .usual_threshold_turned = 1,
         .what = "signs of the horizontal gradients at 9x8 (imagehash)",
         .begin = small<kGrayFirst, 8, 9, dhash_bits>},
    Hash{.name = "dhash_vertical",
         .what = "signs of the vertical gradients at 8x9 (imagehash)",
         .begin = small<kGrayFirst, 9, 8, dhash_vertical_bits>},
    Hash{.name = "ahash",
         .what = "pixels at 8x8 above their mean (imagehash's average_hash)",
         .begin = small<kGrayFirst, 8, 8, ahash_bits>},
    Hash{.name = "whash",
         .what = "Haar wavelet at 8x8 above its median (imagehash)",
         .begin = small<kGrayFirst, 0, 0, whash_bits>},
    Hash{.name = "phash16",
         .bits = 256,
         .most_orientations = 8,
         .usual_threshold = 70,
         .usual_threshold_turned = 68,
         .what = "as phash, of 64x64 and 16x16 frequencies (imagehash, hash_size 16)",
         .begin = small<kGrayFirst, 64, 64, phash16_bits>},
    Hash{.name = "pdq",
         .bits = 256,
         .most_orientations = 8,
         .has_quality = true,
         .least_quality = 50,
         .usual_threshold = 71,
         .usual_threshold_turned = 69,
         .what = "frequencies 1 to 16 of a blurred 64x64 above their median (PDQ)",
         .begin = begin_pdq},
    Hash{.name = "imagededup_phash",
         .usual_threshold = 4,
         .usual_threshold_turned = 3,
         .what = "as phash, resized before gray, median without DC (imagededup)",
         .begin = small<kResizeFirst, 32, 32, phash_or_equal_bits>},
    Hash{.name = "imagededup_dhash",
         .usual_threshold = 1,
         .usual_threshold_turned = 1,
         .what = "as dhash, resized before gray (imagededup)",
         .begin = small<kResizeFirst, 8, 9, dhash_bits>},
    Hash{.name = "imagededup_ahash",
         .what = "as ahash, resized before gray (imagededup)",
         .begin = small<kResizeFirst, 8, 8, ahash_or_equal_bits>},
    Hash{.name = "imagededup_whash",
         .what = "as whash, of 256x256, resized before gray (imagededup)",
         .begin = small<kResizeFirst, 256, 256, whash_or_equal_bits>},
    Hash{.name = "block_mean",
         .bits = 256,
         .what = "16x16 blocks at 256x256 at or above their mean (OpenCV's BlockMeanHash, mode 0)",
         .begin = begin_block_mean},
};

}  // namespace

std::string HashKind::name() const { return to_text({row->name, orientations, scale}); }

std::string HashKind::what() const {
  if (orientations == 1) return std::string(row->what);
  return std::string(row->name) + (orientations == 2
                                       ? ", which finds mirror images too"
                                       : ", which finds mirrored and turned copies too");
}

int rows_at_once(int width_px, int channels) noexcept {
  constexpr std::ptrdiff_t kBytesAtOnce = 48 << 10;
  const std::ptrdiff_t line = std::ptrdiff_t{width_px} * channels;
  return static_cast<int>(std::max<std::ptrdiff_t>(4, kBytesAtOnce / line / 4 * 4));
}

HashStreams::HashStreams(int height_px, int width_px, int channels,
                         std::span<const HashKind> hashes, ResampleWeights& weights)
    : hashes_(hashes) {
  for (const HashKind& hash : hashes) {
    streams_.push_back(hash.row->begin(height_px, width_px, channels, hash.orientations, &weights));
  }
}

void HashStreams::add(ImageView rows, ImageView gray) {
  for (const auto& stream : streams_) stream->add(rows, gray);
}

std::vector<HashCode> HashStreams::finish() {
  std::vector<HashCode> codes(hashes_.size());
  for (std::size_t i = 0; i < codes.size(); ++i) {
    codes[i].words.resize(static_cast<std::size_t>(hashes_[i].bits()) / 64);
    codes[i].quality = streams_[i]->finish(codes[i].words.data());
  }
  return codes;
}

std::vector<HashCode> compute_hashes(ImageView image, std::span<const HashKind> hashes,
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

HashCode compute_hash(ImageView image, const HashKind& hash) {
  HashMemory memory;
  return std::move(compute_hashes(image, std::span(&hash, 1), memory).front());
}

std::vector<HashKind> hash_kinds() {
  std::vector<HashKind> kinds;
  for (const Hash& row : kHashes) kinds.push_back({&row, 1});
  for (const Hash& row : kHashes) {
    if (row.most_orientations == 8) kinds.insert(kinds.end(), {{&row, 2}, {&row, 8}});
  }
  return kinds;
}

HashKind find_hash(std::string_view name) {
  const std::string_view whole = name.substr(0, name.find('@'));
  std::vector<std::string> known;
  for (HashKind kind : hash_kinds()) {
    if (kind.name() == whole) {
      const std::optional<HashName> parsed = parse_hash_name(name);
      if (!parsed) {
        throw UsageError("'" + std::string(name) + "' has no such scale; use all pixels, as " +
                         std::string(whole) + ", or a scale: @1/2, @1/4 or @1/8");
      }
      kind.scale = parsed->scale;
      return kind;
    }
    known.push_back(kind.name());
  }
  throw UsageError(unknown_name("there is no hash", whole, known));
}

int usual_threshold(std::string_view whole) {
  const std::optional<HashName> name = parse_hash_name(whole);
  for (const HashKind& kind : hash_kinds()) {
    if (!name || kind.row->name != name->row) continue;
    return name->orientations == 1 ? kind.row->usual_threshold : kind.row->usual_threshold_turned;
  }
  return 0;
}

void check_threshold(std::string_view hash, int threshold) {
  const int most = find_hash(hash).row->bits;
  if (threshold >= 0 && threshold <= most) return;
  throw UsageError("a threshold of " + std::to_string(threshold) + " bits is out of range for '" +
                   std::string(hash) + "'; choose one from 0 to " + std::to_string(most));
}

int common_scale(std::span<const std::string> names) {
  int scale = 0;
  for (const std::string& name : names) {
    const int one = find_hash(name).scale;
    if (scale != 0 && one != scale) {
      throw UsageError(
          "the hashes " + names.front() + " and " + name +
          " have two scales, but pictures are decoded once; use one scale for all hashes");
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
