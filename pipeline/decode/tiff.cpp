#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "pipeline/decode/errors_internal.h"
#include "pipeline/decode/jpeg.h"
#include "pipeline/decode/orientation.h"
#include "pipeline/decode/tiff_directory_internal.h"
#include "pipeline/decode/tiff_internal.h"

namespace winnow::pipeline {
namespace {

using namespace tiff;

// Includes CCITT, LZW, Deflate (both numbers), PackBits and ThunderScan. Not word-aligned CCITT
// (32771): libtiff 4.5 reads some of its rows at odd bytes.
constexpr std::array<std::uint64_t, 14> kCompressions{
    kPlain, 2, 3, 4, 5, kOldJpeg, kJpeg, 8, 32773, 32809, 32946, kLzma, kZstd, kWebp};

// The compressed data of all blocks.
struct Data {
  std::uint64_t blocks = 0;
  std::uint64_t most_bytes = 0;  // largest block
  int scans = 1;                 // maximum, for JPEG
};

std::optional<DecodeError> check_sides(const TiffBlocks& blocks) {
  if (blocks.block_width_px == 0 || blocks.block_height_px == 0) {
    if (blocks.tiled) return corrupt("the TIFF's tiles have no pixels");
    if (blocks.width_px > 0 && blocks.height_px > 0)
      return corrupt("the TIFF's strips have no rows");
    return std::nullopt;  // the picture has no pixels either
  }
  constexpr std::uint64_t kMostSide = 1u << 20;
  const std::uint64_t side =
      std::max({blocks.width_px, blocks.height_px, blocks.tiled ? blocks.block_width_px : 0});
  if (blocks.block_height_px > std::numeric_limits<std::uint32_t>::max()) {
    return too_large("is a TIFF with tiles of " + std::to_string(blocks.block_height_px) + " rows");
  }
  if (side > kMostSide) {
    return too_large("is a TIFF with a side of " + std::to_string(side) + " pixels; the limit is " +
                     std::to_string(kMostSide));
  }
  return std::nullopt;
}

void put_sizes(const TiffBlocks& blocks, Header& header) {
  header.width_px = blocks.width_px;
  header.height_px = blocks.height_px;
  header.tile_pixels = blocks.block_width_px * blocks.block_height_px;
  if (!blocks.tiled) return;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t count = blocks.count();
  header.all_tiles_pixels =
      count > 0 && header.tile_pixels > kMost / count ? kMost : count * header.tile_pixels;
}

std::optional<DecodeError> check_samples(const TiffDirectory& directory) {
  const std::uint64_t compression = directory.first(kCompression, kPlain);
  if (std::find(kCompressions.begin(), kCompressions.end(), compression) == kCompressions.end()) {
    return unsupported("is a TIFF with compression " + std::to_string(compression) +
                       ", which is not supported; save it with LZW or Deflate");
  }
  const TiffNumbers depths = directory.find(kBits);
  std::uint64_t bits = 1;
  for (std::uint64_t i = 0; i < depths.count; ++i) {
    bits = std::max(bits, directory.number(depths, i));
  }
  constexpr std::uint64_t kLogLuv = 32845;  // decoded to floats
  if (bits > 16 || directory.first(kPhotometric, 2) == kLogLuv) {
    return unsupported("has samples of other depths than 8 or 16 bits; convert it to 8 bits");
  }
  const std::uint64_t samples = directory.first(kSamples, 1);
  if (samples > 4) {
    return unsupported("is a TIFF with " + std::to_string(samples) +
                       " samples per pixel; save it with 4 at most");
  }
  return std::nullopt;
}

std::optional<DecodeError> read_block(const TiffDirectory& directory, std::uint64_t at,
                                      std::uint64_t length, std::uint64_t all, Data& data) {
  constexpr int kScans = 4;  // one a colour; libtiff would accept a hundred
  if (!directory.fields().has(at, length)) return truncated("the TIFF ends within its pixels");
  data.most_bytes = std::max(data.most_bytes, length);
  if (directory.first(kCompression, kPlain) != kJpeg) return std::nullopt;
  if (all > directory.fields().size()) {
    return corrupt("the TIFF's JPEGs overlap");  // libtiff would scan each of them
  }
  const int scans = count_scans(directory.fields().bytes(at, length), kScans + 1);
  if (scans > kScans) {
    return unsupported("is a TIFF that contains progressive JPEGs; save it as a JPEG");
  }
  data.scans = std::max(data.scans, scans);
  return std::nullopt;
}

// For some colour spaces libtiff builds tables for each file, and scans all blocks.
Expected<Data, DecodeError> read_data(const TiffDirectory& directory, const TiffBlocks& blocks,
                                      std::uint64_t most_blocks) {
  const bool are_tiles = directory.find(kTileOffsets).count > 0;
  if (are_tiles && directory.find(kStripOffsets).count > 0) {
    return corrupt("the TIFF has both strips and tiles");
  }
  const TiffNumbers offsets = directory.find(are_tiles ? kTileOffsets : kStripOffsets);
  const TiffNumbers lengths = directory.find(are_tiles ? kTileBytes : kStripBytes);
  Data data;
  data.blocks = offsets.count;
  if (data.blocks == 0) return corrupt("the TIFF has no pixels");
  if (std::max(data.blocks, blocks.count()) > most_blocks) {
    return unsupported("is a TIFF of " + std::to_string(std::max(data.blocks, blocks.count())) +
                       " strips or tiles, too many to decode; save it with larger ones");
  }
  std::uint64_t all = 0;
  for (std::uint64_t i = 0; i < data.blocks; ++i) {
    // If lengths are missing, libtiff uses the rest of the file.
    const std::uint64_t at = directory.number(offsets, i);
    std::uint64_t length = i < lengths.count ? directory.number(lengths, i) : 0;
    if (length == 0) length = directory.fields().size() - std::min(at, directory.fields().size());
    all += length;
    if (auto error = read_block(directory, at, length, all, data)) return *std::move(error);
  }
  return data;
}

// Memory of libtiff and decode_tiff(), besides the pixels.
std::uint64_t held_bytes(const TiffDirectory& directory, const TiffBlocks& blocks,
                         const Data& data) {
  const std::uint64_t compression = directory.first(kCompression, kPlain);
  const TiffNumbers depths = directory.find(kBits);
  const std::uint64_t sample_bytes = depths.count > 0 && directory.number(depths, 0) > 8 ? 2 : 1;
  const bool is_jpeg = compression == kJpeg || compression == kOldJpeg;
  // Old-style JPEGs need not state it.
  const std::uint64_t samples =
      std::max<std::uint64_t>(directory.first(kSamples, 1), is_jpeg ? 3 : 1);
  const std::uint64_t stored = samples * sample_bytes;
  const std::uint64_t block = blocks.block_width_px * blocks.block_height_px;
  const std::uint64_t image = blocks.width_px * blocks.height_px;
  const std::uint64_t piece = piece_rows(directory, blocks) * blocks.block_width_px;
  // Samples and R, G, B, A beside them; tables of the blocks' places.
  std::uint64_t bytes = piece * (stored + 4) + 32 * data.blocks;
  // A copy of a block of each plane. libtiff divides a single uncompressed strip into many.
  const bool is_chopped = compression == kPlain && data.blocks == 1 && !blocks.tiled;
  if (!is_chopped) bytes += data.most_bytes * (directory.first(kPlanes, 1) == 2 ? samples : 1);
  // A dictionary that grows with the unpacked data; libwebp's output; all coefficients.
  if (compression == kLzma || compression == kZstd) bytes += block * stored;
  if (compression == kWebp) bytes += block * 5;
  if (compression == kOldJpeg) bytes += image * 2 * samples;
  if (data.scans > 1) bytes += block * 2 * samples;
  return bytes;
}

std::optional<DecodeError> check_blocks(const TiffDirectory& directory, const TiffBlocks& blocks,
                                        const Data& data) {
  constexpr std::uint64_t kMostRows = std::numeric_limits<std::uint32_t>::max();  // limit of a TIFF
  if (blocks.stack_height_px() > kMostRows) {
    return too_large("has tiles of " + std::to_string(blocks.stack_height_px()) + " rows in total");
  }
  constexpr std::uint64_t kMostAtOnce = 1u << 25;  // at most 1 s
  const bool is_old = directory.first(kCompression, kPlain) == kOldJpeg;
  if (is_old && blocks.tiled) {
    return unsupported(
        "is a TIFF with tiles in the obsolete JPEG compression (6), which is not supported; save "
        "it again with another compression");
  }
  const std::uint64_t at_once =
      is_old ? blocks.width_px * blocks.height_px : blocks.block_width_px * blocks.block_height_px;
  if (at_once <= kMostAtOnce || !(is_read_whole(directory) || data.scans > 1)) return std::nullopt;
  return unsupported(
      "is a TIFF of " + std::to_string(at_once) +
      " pixels that can only be decoded at once, which is too many; save it with LZW or Deflate");
}

}  // namespace

Expected<Header, DecodeError> tiff_header(const EncodedBytes& encoded, std::uint64_t most_blocks) {
  TiffDirectory directory(encoded);
  if (auto error = directory.read()) return *std::move(error);
  const TiffBlocks blocks = blocks_of(directory);
  if (auto error = check_sides(blocks)) return *std::move(error);
  Header header;
  put_sizes(blocks, header);
  if (auto error = check_samples(directory)) return *std::move(error);
  const auto data = read_data(directory, blocks, most_blocks);
  if (!data) return data.error();
  if (auto error = check_blocks(directory, blocks, *data)) return *std::move(error);
  header.gray = directory.first(kPhotometric, 2) <= 1;
  header.channels = 0;
  header.work_bytes = held_bytes(directory, blocks, *data);
  const std::uint64_t extra = directory.first(kExtraSamples, 0);
  if (extra == 1) header.alpha = Alpha::kMultiplied;
  if (extra == 2) header.alpha = Alpha::kStraight;
  const std::uint64_t orientation = directory.first(kOrientation, 1);
  if (orientation >= 2 && orientation <= 8) {
    header.orientation = static_cast<int>(orientation);
    header.work_bytes += header.width_px * header.height_px * (header.gray ? 1 : 3);
  }
  if (swaps_sides(header.orientation)) std::swap(header.width_px, header.height_px);
  return header;
}

}  // namespace winnow::pipeline
