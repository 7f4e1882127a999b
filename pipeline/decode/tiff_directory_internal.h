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

// Tags that determine size and memory of a TIFF: "TIFF Revision 6.0", sections 2, 8, 15 and 18.
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

// Compression schemes of TIFFs, from various vendors.
inline constexpr std::uint64_t kPlain = 1;
inline constexpr std::uint64_t kOldJpeg = 6;
inline constexpr std::uint64_t kJpeg = 7;
inline constexpr std::uint64_t kLzma = 34925;
inline constexpr std::uint64_t kZstd = 50000;
inline constexpr std::uint64_t kWebp = 50001;
}  // namespace tiff

// Where the values of a tag are stored in the file.
struct TiffNumbers {
  std::uint64_t at = 0;  // byte offset of the first value
  std::uint64_t count = 0;
  std::uint32_t bytes = 0;  // bytes of each value
};

// Reads unsigned integers at any offset of a TIFF, which may be in a file; 0 beyond the end. has()
// tells whether bytes exist. Not thread-safe.
class TiffFields {
 public:
  explicit TiffFields(EncodedBytes encoded);

  bool has(std::uint64_t at, std::uint64_t count) const noexcept {
    return at <= size() && count <= size() - at;
  }
  std::uint64_t number(std::uint64_t at, std::uint32_t bytes) const;
  std::uint32_t u16(std::uint64_t at) const { return static_cast<std::uint32_t>(number(at, 2)); }
  std::uint32_t u32(std::uint64_t at) const { return static_cast<std::uint32_t>(number(at, 4)); }
  // The bytes of the range that exist, valid until the next call.
  BytesView bytes(std::uint64_t at, std::uint64_t count) const;
  std::uint64_t size() const noexcept { return encoded_.size(); }
  bool is_big_endian() const noexcept { return big_endian_; }
  const EncodedBytes& encoded() const noexcept { return encoded_; }

 private:
  EncodedBytes encoded_;
  bool big_endian_ = false;
  mutable Bytes some_;            // file only: the range of the last call of bytes()
  mutable Bytes page_;            // file only: bytes around the last number read
  mutable std::uint64_t at_ = 0;  // byte offset of page_ in the file
};

// The first directory of a TIFF or of a BigTIFF, whose offsets and counts have 8 bytes.
class TiffDirectory {
 public:
  explicit TiffDirectory(EncodedBytes encoded) : fields_(std::move(encoded)) {}

  // Reads the directory; must be called first. Returns an error if libtiff might read another
  // directory.
  std::optional<DecodeError> read();

  const TiffFields& fields() const noexcept { return fields_; }
  bool is_big_endian() const noexcept { return fields_.is_big_endian(); }
  bool is_big() const { return fields_.u16(2) == 43; }
  // Sizes in bytes: of an entry; of an offset or count; of everything before the first directory.
  std::uint64_t entry_bytes() const { return is_big() ? 20 : 12; }
  std::uint32_t offset_bytes() const { return is_big() ? 8 : 4; }
  std::uint64_t head_bytes() const { return is_big() ? 16 : 8; }
  // Byte offsets of the entries that affect pixels (entry_bytes() each), by tag.
  const std::multimap<std::uint32_t, std::uint64_t>& entries() const noexcept { return entries_; }

  // Finds the values of a tag that determines size or memory.
  TiffNumbers find(std::uint32_t tag) const;
  std::uint64_t number(const TiffNumbers& numbers, std::uint64_t i) const;
  std::uint64_t first(std::uint32_t tag, std::uint64_t otherwise) const;

 private:
  std::optional<DecodeError> read_entry(std::uint64_t at);

  TiffFields fields_;
  std::map<std::uint32_t, TiffNumbers> tags_;
  std::multimap<std::uint32_t, std::uint64_t> entries_;
};

// How the pixels are arranged in blocks (strips or tiles), row by row from the top left.
struct TiffBlocks {
  bool tiled = false;
  std::uint64_t width_px = 0;  // size of the picture as stored
  std::uint64_t height_px = 0;
  std::uint64_t block_width_px = 0;
  std::uint64_t block_height_px = 0;  // rows of a block; the last strip may have fewer

  std::uint64_t across() const noexcept;
  std::uint64_t down() const noexcept;
  std::uint64_t count() const noexcept { return across() * down(); }
  // Height of all blocks stacked vertically, in pixels.
  std::uint64_t stack_height_px() const noexcept;
};

// Reads the arrangement of blocks. The sides of a tile may be 0.
TiffBlocks blocks_of(const TiffDirectory& directory);

// Whether libtiff can only decode a whole block: old-style JPEG, WebP, and Y, Cb, Cr packed in
// squares of pixels.
bool is_read_whole(const TiffDirectory& directory);

// Whether to request a whole block at once: those of is_read_whole(), and small ones, because
// Deflate is then decoded faster. Not JPEG and CCITT, where libtiff would not report missing rows;
// nor uncompressed samples, which it would copy.
bool is_block_read_at_once(const TiffDirectory& directory, const TiffBlocks& blocks);

// Number of rows of a block to read between two checks for a request to stop: all rows, or a few.
std::uint64_t piece_rows(const TiffDirectory& directory, const TiffBlocks& blocks);

// Makes a directory that presents the same pixels as strips, stacked vertically: libtiff reads
// strips row by row, but tiles only as a whole. It contains only what affects pixels, without the
// orientation. It must be placed at an even offset after the whole file, to whose offsets it
// refers. Blocks must not be empty.
Bytes stacked_directory(const TiffDirectory& directory, const TiffBlocks& blocks);

}  // namespace winnow::pipeline
