#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "pipeline/decode/decode.h"

namespace winnow::pipeline {

// kMultiplied: colours are premultiplied by alpha.
enum class Alpha { kNone, kStraight, kMultiplied };

// The information in a file's header, read before a codec sees the file.
struct Header {
  std::uint64_t width_px = 0;
  std::uint64_t height_px = 0;
  bool gray = false;  // one channel, with or without alpha
  // Samples per pixel from the codec, and their size; channels 0: the samples are the pixels.
  std::uint32_t channels = 3;
  std::uint32_t sample_bytes = 1;
  // Maximum working memory of the codec, besides these samples and the encoded bytes.
  std::uint64_t work_bytes = 0;
  Alpha alpha = Alpha::kNone;  // alpha in the pixels or the palette
  // PNG: the gray value that is transparent, in 8 bits, or in 16 if pixels have 16.
  std::optional<std::uint32_t> transparent_gray;
  std::uint32_t max_value = 0;  // PNM: the value of white
  std::uint64_t pixels_at = 0;  // PNM: offset of the pixels
  // TIFF: pixels of a tile or strip.
  std::uint64_t tile_pixels = 0;
  // TIFF: pixels of all tiles together, including those beyond the border.
  std::uint64_t all_tiles_pixels = 0;
  int orientation = 1;  // TIFF: its own orientation, 1 to 8, always applied
};

// Maximum memory of decoding in bytes, besides the encoded ones: the codec's samples, plus the
// larger of its working memory and the final 8-bit pixels of `channels`. If the samples are the
// pixels: working memory plus pixels. Pure; sizes must be below 2^60.
std::uint64_t decoding_bytes(const Header& header, int channels) noexcept;

// Reads size and structure of a "png", "bmp", "webp", "tiff" or "pnm" file (names as in sniff()).
// Does not examine the compressed data.
// Errors  The file ends before its structure does, or a PNG chunk has a wrong CRC: codecs would
//         make half an image of some of these, or print. TIFFs that a codec might read differently
//         (tiff_internal.h).
Expected<Header, DecodeError> read_header(std::string_view format, BytesView encoded);

}  // namespace winnow::pipeline
