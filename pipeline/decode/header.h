#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "pipeline/decode/decode.h"

namespace winnow::pipeline {

// The kind of alpha channel of an image. kMultiplied: colours are premultiplied by alpha.
enum class Alpha { kNone, kStraight, kMultiplied };

// The facts in an image file's header, read before a codec sees the file.
struct Header {
  std::uint64_t width_px = 0;
  std::uint64_t height_px = 0;
  bool gray = false;  // true for gray images, with or without alpha
  // Samples per pixel that the codec writes, and bytes per sample. channels 0: it writes the final
  // pixels.
  std::uint32_t channels = 3;
  std::uint32_t sample_bytes = 1;
  // Most working memory of the codec in bytes, besides its samples and the encoded bytes.
  std::uint64_t work_bytes = 0;
  Alpha alpha = Alpha::kNone;  // kind of alpha, in the pixels or in the palette
  // PNG: the gray value that is transparent, with 8 bits, or with 16 if pixels have 16.
  std::optional<std::uint32_t> transparent_gray;
  std::uint32_t max_value = 0;  // PNM: the value that is white
  std::uint64_t pixels_at = 0;  // PNM: byte offset of the pixels
  // TIFF: number of pixels of one tile or strip.
  std::uint64_t tile_pixels = 0;
  // TIFF: number of pixels of all tiles together, including those beyond the border.
  std::uint64_t all_tiles_pixels = 0;
  int orientation = 1;  // TIFF: orientation tag, 1 to 8, always applied
};

// Most memory in bytes that decoding takes, besides the encoded bytes: the codec's samples, plus
// the larger of its working memory and the final 8-bit pixels of `channels`. If the codec writes
// the final pixels: working memory plus pixels. Pure; sizes must be below 2^60.
std::uint64_t decoding_bytes(const Header& header, int channels) noexcept;

// Reads size and structure of a "png", "bmp", "webp", "tiff" or "pnm" file (format as from
// sniff()). Does not examine compressed data.
// Errors  The file ends within its structure, or a PNG chunk has a wrong CRC: codecs would return a
//         part of some such images, or print messages. A TIFF that a codec might read differently
//         (tiff_internal.h).
Expected<Header, DecodeError> read_header(std::string_view format, BytesView encoded);

}  // namespace winnow::pipeline
