#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "pipeline/decode/errors_internal.h"
#include "pipeline/decode/fields_internal.h"
#include "pipeline/decode/jpeg.h"
#include "pipeline/decode/tiff_internal.h"

namespace winnow::pipeline {
namespace {

// "TIFF Revision 6.0", sections 2, 8, 15 and 18.
constexpr std::uint32_t kWidth = 256;
constexpr std::uint32_t kHeight = 257;
constexpr std::uint32_t kBits = 258;
constexpr std::uint32_t kCompression = 259;
constexpr std::uint32_t kPhotometric = 262;
constexpr std::uint32_t kStripOffsets = 273;
constexpr std::uint32_t kOrientation = 274;
constexpr std::uint32_t kSamples = 277;
constexpr std::uint32_t kStripRows = 278;
constexpr std::uint32_t kStripBytes = 279;
constexpr std::uint32_t kTileWidth = 322;
constexpr std::uint32_t kTileHeight = 323;
constexpr std::uint32_t kTileOffsets = 324;
constexpr std::uint32_t kTileBytes = 325;
constexpr std::uint32_t kExtraSamples = 338;

// Those that have one value.
constexpr std::array kSingle{kWidth,   kHeight,    kCompression, kPhotometric, kOrientation,
                             kSamples, kStripRows, kTileWidth,   kTileHeight};
constexpr std::array kSeveral{kBits,        kStripOffsets, kStripBytes,
                              kTileOffsets, kTileBytes,    kExtraSamples};

// Compressions, by whoever gave them their numbers.
constexpr std::uint64_t kOldJpeg = 6;
constexpr std::uint64_t kJpeg = 7;
constexpr std::uint64_t kLzma = 34925;
constexpr std::uint64_t kZstd = 50000;
// With CCITT's, LZW, Deflate by both numbers, PackBits, ThunderScan and WebP.
constexpr std::array<std::uint64_t, 15> kCompressions{
    1, 2, 3, 4, 5, kOldJpeg, kJpeg, 8, 32773, 32809, 32946, 32771, kLzma, kZstd, 50001};

bool is_one_of(const auto& values, auto value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// The values of a tag, as they lie in the file.
struct Numbers {
  std::uint64_t at = 0;  // of the first
  std::uint32_t count = 0;
  std::uint32_t bytes = 0;  // of one
};

class Directory {
 public:
  explicit Directory(BytesView encoded) : fields_(encoded, encoded[0] == std::byte{'M'}) {}

  std::optional<DecodeError> read() {
    const Fields& f = fields_;
    const std::uint64_t begin = f.u32(4);
    if (!f.has(begin, 2) || !f.has(begin + 2, std::uint64_t{12} * f.u16(begin))) {
      return truncated("the TIFF ends before its directory");
    }
    for (std::uint64_t i = 0; i < f.u16(begin); ++i) {
      if (auto error = read_entry(begin + 2 + 12 * i)) return error;
    }
    return std::nullopt;
  }

  const Fields& fields() const noexcept { return fields_; }
  Numbers find(std::uint32_t tag) const {
    const auto at = tags_.find(tag);
    return at == tags_.end() ? Numbers{} : at->second;
  }
  std::uint64_t number(const Numbers& n, std::uint64_t i) const {
    return n.bytes == 2 ? fields_.u16(n.at + 2 * i) : fields_.u32(n.at + 4 * i);
  }
  std::uint64_t first(std::uint32_t tag, std::uint64_t otherwise) const {
    const Numbers n = find(tag);
    return n.count == 0 ? otherwise : number(n, 0);
  }

 private:
  std::optional<DecodeError> read_entry(std::uint64_t at) {
    constexpr std::uint32_t kShort = 3;
    constexpr std::uint32_t kLong = 4;
    const Fields& f = fields_;
    const std::uint32_t tag = f.u16(at);
    const std::uint32_t type = f.u16(at + 2);
    const bool is_single = is_one_of(kSingle, tag);
    const bool matters = is_single || is_one_of(kSeveral, tag);
    const std::string name = "the TIFF's tag " + std::to_string(tag);
    if (matters && tags_.contains(tag)) return corrupt(name + " is there twice");
    if (type != kShort && type != kLong) {
      if (!matters) return std::nullopt;
      return corrupt(name + " is of type " + std::to_string(type) + ", not a SHORT or LONG");
    }
    Numbers n{at + 8, f.u32(at + 4), type == kShort ? 2U : 4U};
    if (std::uint64_t{n.count} * n.bytes > 4) n.at = f.u32(at + 8);
    if (!f.has(n.at, std::uint64_t{n.count} * n.bytes)) {
      return truncated("the TIFF ends within its directory");
    }
    if (!matters) return std::nullopt;
    if (n.count == 0 || (is_single && n.count != 1)) {
      return corrupt(name + " has " + std::to_string(n.count) + " values");
    }
    tags_.emplace(tag, n);
    return std::nullopt;
  }

  Fields fields_;
  std::map<std::uint32_t, Numbers> tags_;  // that matter
};

// What the codec makes of its samples, and what memory that takes.
std::optional<DecodeError> read_samples(const Directory& directory, Header& header) {
  const std::uint64_t compression = directory.first(kCompression, 1);
  if (!is_one_of(kCompressions, compression)) {
    return unsupported("is a TIFF of compression " + std::to_string(compression) +
                       "; save it with LZW or Deflate to have it read");
  }
  const Numbers depths = directory.find(kBits);
  std::uint64_t bits = 1;
  for (std::uint64_t i = 0; i < depths.count; ++i) {
    bits = std::max(bits, directory.number(depths, i));
  }
  constexpr std::uint64_t kLogLuv = 32845;  // becomes floats
  const std::uint64_t photometric = directory.first(kPhotometric, 2);
  if (bits > 16 || photometric == kLogLuv) {
    return unsupported("has samples that are not of 8 or 16 bits; convert it to 8 bits");
  }
  const bool is_jpeg = compression == kJpeg || compression == kOldJpeg;
  std::uint64_t samples = std::min<std::uint64_t>(directory.first(kSamples, 1), 4);  // or refused
  if (is_jpeg) samples = std::max<std::uint64_t>(samples, 3);  // old ones need not say
  header.sample_bytes = bits > 8 ? 2 : 1;
  header.channels =
      photometric <= 1 ? 1 : static_cast<std::uint32_t>(std::max<std::uint64_t>(samples, 3));

  // Of a pixel of a tile: as stored; beside it in R, G, B, A or unpacked to 16 bits; a dictionary
  // that grows with what it unpacks; all coefficients of a progressive JPEG.
  const std::uint64_t stored = samples * header.sample_bytes;
  const bool is_as_wanted = bits == 16 && photometric <= 2 && samples != 2;
  std::uint64_t bytes = stored + (is_as_wanted ? 0 : std::max<std::uint64_t>(stored, 4));
  if (compression == kLzma || compression == kZstd) bytes += stored;
  if (is_jpeg) bytes += 2 * samples;
  header.work_bytes = header.tile_pixels * bytes;
  return std::nullopt;
}

// Both sides of a tile or strip; of a strip that is said to be longer than the image, the image's.
std::optional<DecodeError> read_tiles(const Directory& directory, Header& header) {
  const bool is_tiled =
      directory.find(kTileWidth).count > 0 || directory.find(kTileHeight).count > 0;
  if (!is_tiled) {
    const std::uint64_t rows = directory.first(kStripRows, header.height_px);
    header.tile_pixels = header.width_px * std::min(rows, header.height_px);
    return std::nullopt;
  }
  const std::uint64_t width = directory.first(kTileWidth, 0);
  const std::uint64_t height = directory.first(kTileHeight, 0);
  if (width == 0 || height == 0) return corrupt("the TIFF's tiles have no pixels");
  header.tile_pixels = width * height;
  const auto padded = [](std::uint64_t side, std::uint64_t tile) {
    return (side + tile - 1) / tile * tile;
  };
  const std::uint64_t across = padded(header.width_px, width);
  const std::uint64_t down = std::max<std::uint64_t>(padded(header.height_px, height), 1);
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  header.all_tiles_pixels = across > kMost / down ? kMost : across * down;
  return std::nullopt;
}

std::optional<DecodeError> check_data(const Directory& directory, Header& header) {
  constexpr int kScans = 4;  // one for each colour; libtiff would take a hundred
  // Of some colours libtiff makes tables anew for each, in 50 us.
  constexpr std::uint64_t kMostBlocks = 65'536;
  const bool is_jpeg = directory.first(kCompression, 1) == kJpeg;
  std::uint64_t blocks = 0;
  std::uint64_t most = 0;  // bytes of one
  std::uint64_t all = 0;
  for (const auto& [offsets_tag, bytes_tag] :
       {std::pair{kStripOffsets, kStripBytes}, std::pair{kTileOffsets, kTileBytes}}) {
    const Numbers offsets = directory.find(offsets_tag);
    const Numbers lengths = directory.find(bytes_tag);
    blocks += offsets.count;
    if (blocks > kMostBlocks) {
      return unsupported("is a TIFF of " + std::to_string(blocks) +
                         " strips or tiles; save it with larger ones to have it read");
    }
    for (std::uint64_t i = 0; i < std::min(offsets.count, lengths.count); ++i) {
      const std::uint64_t length = directory.number(lengths, i);
      most = std::max(most, length);
      all += length;
      const std::uint64_t at = directory.number(offsets, i);
      if (!directory.fields().has(at, length)) {
        return truncated("the TIFF ends within its pixels");
      }
      if (is_jpeg && all > directory.fields().size()) {
        return corrupt("the TIFF's JPEGs overlap");  // each would be looked through
      }
      if (is_jpeg && count_scans(directory.fields().bytes(at, length), kScans + 1) > kScans) {
        return unsupported("is a TIFF of progressive JPEGs; save it as a JPEG to have it read");
      }
    }
  }
  if (blocks == 0) return corrupt("the TIFF has no pixels");
  // A copy of one, and libtiff's tables of where they are, which it fills up for a million at most.
  constexpr std::uint64_t kFilledUp = 1'000'000;
  const std::uint64_t due =
      header.tile_pixels == 0 ? 0 : 4 * header.width_px * header.height_px / header.tile_pixels;
  header.work_bytes += most + 32 * std::max(blocks, std::min(due, kFilledUp));
  return std::nullopt;
}

}  // namespace

Expected<Header, DecodeError> tiff_header(BytesView encoded) {
  Directory directory(encoded);
  if (directory.fields().u16(2) == 43) {
    return unsupported("is a BigTIFF; save it as a TIFF or PNG to have it read");
  }
  if (auto error = directory.read()) return *std::move(error);
  Header header;
  header.width_px = directory.first(kWidth, 0);
  header.height_px = directory.first(kHeight, 0);
  for (const auto read : {read_tiles, read_samples, check_data}) {
    if (auto error = read(directory, header)) return *std::move(error);
  }
  const Numbers extra = directory.find(kExtraSamples);
  if (extra.bytes == 2 && directory.number(extra, 0) == 1) header.alpha = Alpha::kMultiplied;
  if (extra.bytes == 2 && directory.number(extra, 0) == 2) {
    header.alpha = Alpha::kStraight;
    header.straight_alpha_at = extra.at;
    header.work_bytes += encoded.size();  // a copy to say so in
  }
  const std::uint64_t orientation = directory.first(kOrientation, 1);
  if (orientation >= 5 && orientation <= 8) {  // the codec turns it, as TIFF readers do
    header.work_bytes += header.width_px * header.height_px * header.channels * header.sample_bytes;
    std::swap(header.width_px, header.height_px);
  }
  return header;
}

}  // namespace winnow::pipeline
