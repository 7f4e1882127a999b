#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/bytes.h"
#include "pipeline/decode/decode.h"
#include "pipeline/decode/encoded.h"

namespace winnow::pipeline {

// "TIFF Revision 6.0", sections 2, 8, 15 and 18: tags that decide on size and memory.
namespace tiff {
inline constexpr std::uint32_t kWidth = 256;
inline constexpr std::uint32_t kHeight = 257;
inline constexpr std::uint32_t kBits = 258;
inline constexpr std::uint32_t kCompression = 259;
inline constexpr std::uint32_t kPhotometric = 262;
inline constexpr std::uint32_t kStripOffsets = 273;
inline constexpr std::uint32_t kOrientation = 274;
inline constexpr std::uint32_t kSamples = 277;
inline constexpr std::uint32_t kStripRows = 278;
inline constexpr std::uint32_t kStripBytes = 279;
inline constexpr std::uint32_t kPlanes = 284;
inline constexpr std::uint32_t kTileWidth = 322;
inline constexpr std::uint32_t kTileHeight = 323;
inline constexpr std::uint32_t kTileOffsets = 324;
inline constexpr std::uint32_t kTileBytes = 325;
inline constexpr std::uint32_t kExtraSamples = 338;

// Compressions, by whoever gave them their numbers.
inline constexpr std::uint64_t kPlain = 1;
inline constexpr std::uint64_t kOldJpeg = 6;
inline constexpr std::uint64_t kJpeg = 7;
inline constexpr std::uint64_t kLzma = 34925;
inline constexpr std::uint64_t kZstd = 50000;
inline constexpr std::uint64_t kWebp = 50001;
}  // namespace tiff

// The values of a tag, as they lie in the file.
struct TiffNumbers {
  std::uint64_t at = 0;  // of the first
  std::uint64_t count = 0;
  std::uint32_t bytes = 0;  // of one
};

// Unsigned numbers anywhere in a TIFF, which may lie in a file; 0 beyond its end. What must be
// there is asked for with has(). For one thread.
class TiffFields {
 public:
  explicit TiffFields(EncodedBytes encoded);

  bool has(std::uint64_t at, std::uint64_t count) const noexcept {
    return at <= size() && count <= size() - at;
  }
  std::uint64_t number(std::uint64_t at, std::uint32_t bytes) const;
  std::uint32_t u16(std::uint64_t at) const { return static_cast<std::uint32_t>(number(at, 2)); }
  std::uint32_t u32(std::uint64_t at) const { return static_cast<std::uint32_t>(number(at, 4)); }
  // Those there are of them, up to the next call.
  BytesView bytes(std::uint64_t at, std::uint64_t count) const;
  std::uint64_t size() const noexcept { return encoded_.size(); }
  bool is_big_endian() const noexcept { return big_endian_; }
  const EncodedBytes& encoded() const noexcept { return encoded_; }

 private:
  EncodedBytes encoded_;
  bool big_endian_ = false;
  mutable Bytes some_;            // of a file, what was asked for last
  mutable Bytes page_;            // of a file, what lies around the number asked for last
  mutable std::uint64_t at_ = 0;  // of the page
};

// The first directory of a TIFF, or of a BigTIFF: whose offsets and counts have 8 bytes.
class TiffDirectory {
 public:
  explicit TiffDirectory(EncodedBytes encoded) : fields_(std::move(encoded)) {}

  // To be called first. An error where libtiff might read another directory.
  std::optional<DecodeError> read();

  const TiffFields& fields() const noexcept { return fields_; }
  bool is_big_endian() const noexcept { return fields_.is_big_endian(); }
  bool is_big() const { return fields_.u16(2) == 43; }
  // Bytes of an entry, of an offset or a count, and of what comes before the first directory.
  std::uint64_t entry_bytes() const { return is_big() ? 20 : 12; }
  std::uint32_t offset_bytes() const { return is_big() ? 8 : 4; }
  std::uint64_t head_bytes() const { return is_big() ? 16 : 8; }
  // Where the entries are that pixels depend on, entry_bytes() each, by their tags.
  const std::multimap<std::uint32_t, std::uint64_t>& entries() const noexcept { return entries_; }

  // Of a tag that decides on size or memory.
  TiffNumbers find(std::uint32_t tag) const;
  std::uint64_t number(const TiffNumbers& numbers, std::uint64_t i) const;
  std::uint64_t first(std::uint32_t tag, std::uint64_t otherwise) const;

 private:
  std::optional<DecodeError> read_entry(std::uint64_t at);

  TiffFields fields_;
  std::map<std::uint32_t, TiffNumbers> tags_;
  std::multimap<std::uint32_t, std::uint64_t> entries_;
};

// How the pixels lie in blocks, which are strips or tiles, row by row from the top left.
struct TiffBlocks {
  bool tiled = false;
  std::uint64_t width_px = 0;  // of the picture, as it is stored
  std::uint64_t height_px = 0;
  std::uint64_t block_width_px = 0;
  std::uint64_t block_height_px = 0;  // of the last strip, what is left

  std::uint64_t across() const noexcept;
  std::uint64_t down() const noexcept;
  std::uint64_t count() const noexcept { return across() * down(); }
  std::uint64_t stack_height_px() const noexcept;  // of all, one below the other
};

// Sides of a tile may be 0.
TiffBlocks blocks_of(const TiffDirectory& directory);

// Whether libtiff decodes a block only as a whole: JPEGs of the old kind, WebPs, and Y, Cb and Cr
// that are packed in squares of pixels.
bool is_read_whole(const TiffDirectory& directory);

// Whether a block is to be asked for at once: those, and small ones, of which libtiff decodes
// Deflate in less time so. Not JPEGs and CCITT's, of which it does not say where they have too few
// rows; nor samples without compression, of which it would copy them all.
bool is_block_read_at_once(const TiffDirectory& directory, const TiffBlocks& blocks);

// Of a block, how many are read between two questions whether to stop: all at once, or a few.
std::uint64_t piece_rows(const TiffDirectory& directory, const TiffBlocks& blocks);

// A directory of the same pixels as strips, one below the other: libtiff reads strips row by row,
// but tiles only whole. It has nothing but what the pixels depend on, orientation apart. To lie at
// an even place behind the whole file, whose offsets it keeps. Blocks have pixels.
Bytes stacked_directory(const TiffDirectory& directory, const TiffBlocks& blocks);

}  // namespace winnow::pipeline
