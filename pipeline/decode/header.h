#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "pipeline/decode/decode.h"

namespace winnow::pipeline {

// kMultiplied: colours are stored times their alpha.
enum class Alpha { kNone, kStraight, kMultiplied };

// What the first bytes of a file say, read before a codec sees it.
struct Header {
  std::uint64_t width_px = 0;
  std::uint64_t height_px = 0;
  bool gray = false;  // one channel, with or without alpha
  // Of the samples that the codec gives for a pixel; 0: they are the pixels.
  std::uint32_t channels = 3;
  std::uint32_t sample_bytes = 1;
  // What the codec holds at most besides these samples and the encoded bytes, while it works.
  std::uint64_t work_bytes = 0;
  Alpha alpha = Alpha::kNone;  // that the pixels or the palette have
  // PNG: the gray value that is transparent, of 8 bits or, where pixels have 16, of 16.
  std::optional<std::uint32_t> transparent_gray;
  std::uint32_t max_value = 0;  // PNM: the value that means white
  std::uint64_t pixels_at = 0;  // PNM: where the pixels begin
  // TIFF: the pixels of a tile, or of a strip.
  std::uint64_t tile_pixels = 0;
  // TIFF: the pixels of all tiles together, those beyond the picture's border too.
  std::uint64_t all_tiles_pixels = 0;
  int orientation = 1;  // TIFF: its own, 1 to 8, which is always applied
};

// Bytes that decoding takes at most besides the encoded ones: the codec's samples, and beside them
// what it works with or, later, the pixels of 8 bits, of `channels`; what it works with and the
// pixels where these are the samples. Pure; of sizes below 2^60.
std::uint64_t decoding_bytes(const Header& header, int channels) noexcept;

// Reads size and structure of "png", "bmp", "webp", "tiff" or "pnm" (sniff's names). An error where
// the file ends before what its structure promises, or a PNG chunk's CRC is wrong: codecs would
// make half an image of some of these, or print. So are TIFFs that a codec might take for others
// than they are read as here (tiff_internal.h). The compressed data itself is not looked at.
Expected<Header, DecodeError> read_header(std::string_view format, BytesView encoded);

}  // namespace winnow::pipeline
