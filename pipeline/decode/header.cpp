#include "pipeline/decode/header.h"

#include <zlib.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>

#include "pipeline/decode/encoded.h"
#include "pipeline/decode/errors_internal.h"
#include "pipeline/decode/fields_internal.h"
#include "pipeline/decode/tiff_internal.h"

namespace winnow::pipeline {
namespace {

using Result = Expected<Header, DecodeError>;

// W3C "Portable Network Graphics", sections 5 and 11: chunks of length, type, data, CRC.
Result png_header(BytesView encoded) {
  const Fields f(encoded, true);
  if (!f.has(8, 25)) return truncated("the PNG ends within its header");
  if (f.text(12, 4) != "IHDR" || f.u32(8) != 13) return corrupt("the PNG has no IHDR");
  const std::uint32_t colour_type = f.u8(25);
  Header header;
  header.width_px = f.u32(16);
  header.height_px = f.u32(20);
  header.gray = colour_type == 0 || colour_type == 4;
  if (colour_type >= 4) header.alpha = Alpha::kStraight;
  header.sample_bytes = f.u8(24) == 16 ? 2 : 1;
  header.work_bytes = 24 * header.width_px;  // three rows of the largest pixels
  bool has_pixels = false;
  for (std::uint64_t at = 8; f.has(at, 12);) {
    const std::uint64_t length = f.u32(at);
    const std::string type(f.text(at + 4, 4));
    if (!f.has(at + 12, length)) break;
    const auto* checked = reinterpret_cast<const Bytef*>(encoded.data() + at + 4);
    if (crc32(0, checked, static_cast<uInt>(length + 4)) != f.u32(at + 8 + length)) {
      const bool printable =
          std::all_of(type.begin(), type.end(), [](unsigned char c) { return std::isalpha(c); });
      return corrupt("the CRC of " + (printable ? "the PNG's " + type : std::string("a PNG")) +
                     " chunk is wrong");
    }
    has_pixels = has_pixels || type == "IDAT";
    if (type == "tRNS" && colour_type == 0 && length == 2) {
      const std::uint32_t bits = std::clamp(f.u8(24), 1U, 16U);
      const std::uint32_t value = f.u16(at + 8);
      header.transparent_gray = bits >= 8 ? value : value * 255 / ((1U << bits) - 1);
    } else if (type == "tRNS") {
      header.alpha = Alpha::kStraight;
    }
    if (type == "IEND") {
      if (!has_pixels) return corrupt("the PNG has no pixels");
      header.channels = header.alpha == Alpha::kStraight ? 4 : header.gray ? 1 : 3;
      return header;
    }
    at += 12 + length;
  }
  return truncated("the PNG ends before its IEND chunk");
}

// Whether a BMP's palette at `at` has only grays. `step` is the size of a colour in bytes.
bool is_gray_palette(const Fields& f, std::uint64_t at, std::uint64_t colours, std::uint64_t step) {
  for (std::uint64_t i = 0; i < colours; ++i, at += step) {
    if (f.u8(at) != f.u8(at + 1) || f.u8(at) != f.u8(at + 2)) return false;
  }
  return true;
}

Result bmp_header(BytesView encoded) {
  const Fields f(encoded, false);
  if (!f.has(0, 26)) return truncated("the BMP ends within its header");
  const std::uint64_t pixels_at = f.u32(10);
  const std::uint32_t header_bytes = f.u32(14);
  const bool old = header_bytes == 12;
  if (!old && !f.has(14, 40)) return truncated("the BMP ends within its header");
  const auto height = static_cast<std::int32_t>(f.u32(22));
  const auto width = static_cast<std::int32_t>(f.u32(18));
  if (!old && width < 0) return corrupt("the BMP's width is negative");
  Header header;
  header.width_px = old ? f.u16(18) : static_cast<std::uint64_t>(width);
  header.height_px = old ? f.u16(20) : static_cast<std::uint64_t>(std::abs(std::int64_t{height}));
  const std::uint64_t bits = old ? f.u16(24) : f.u16(28);
  const std::uint32_t compression = old ? 0 : f.u32(30);
  const bool plain = compression == 0 || compression == 3;
  if (bits <= 8) {
    const std::uint64_t all = std::uint64_t{1} << bits;
    const std::uint64_t used = old ? 0 : f.u32(46);
    const std::uint64_t colours = used == 0 ? all : std::min(used, all);
    if (is_gray_palette(f, 14 + std::uint64_t{header_bytes}, colours, old ? 3 : 4)) {
      header.channels = 1;
    }
  }
  // Header version 3 has masks, the fourth of which may be for alpha.
  if (bits == 32 && compression == 3 && header_bytes >= 56 && f.u32(66) != 0) {
    header.alpha = Alpha::kStraight;
    header.channels = 4;
  }
  const std::uint64_t line = (header.width_px * bits + 31) / 32 * 4;
  if (plain && header.height_px > 0 && line > f.size() / header.height_px) {
    return truncated("the BMP ends within its pixels");
  }
  if (plain && !f.has(pixels_at, line * header.height_px)) {
    return truncated("the BMP ends within its pixels");
  }
  return header;
}

// Bytes per pixel that libwebp allocates besides its samples: four for those of a lossless WebP;
// alpha likewise, plus its result. The maximum if the chunks do not tell.
std::uint64_t made_bytes(const Fields& f) {
  constexpr std::uint64_t kMost = 5;
  std::uint64_t size = 0;
  for (std::uint64_t at = 12; f.has(at, 8); at += 8 + size + size % 2) {
    size = f.u32(at + 4);
    const std::string_view chunk = f.text(at, 4);
    if (chunk == "VP8 ") return 0;
    if (chunk == "VP8L") return 4;
    if (chunk == "ALPH") break;
  }
  return kMost;
}

// Source: Google, "WebP Container Specification"; RFC 6386 section 9.1; the VP8L bitstream, section
// 3.
Result webp_header(BytesView encoded) {
  const Fields f(encoded, false);
  if (!f.has(0, 30)) return truncated("the WebP ends within its header");
  if (!f.has(8, f.u32(4))) return truncated("the WebP ends before its RIFF does");
  const std::string_view chunk = f.text(12, 4);
  Header header;
  if (chunk == "VP8X") {
    header.width_px = f.u24(24) + 1;
    header.height_px = f.u24(27) + 1;
    if ((f.u8(20) & 16) != 0) header.alpha = Alpha::kStraight;
    if ((f.u8(20) & 2) != 0) {
      return unsupported("is an animated WebP; save one frame as a still image");
    }
  } else if (chunk == "VP8 ") {
    header.width_px = f.u16(26) & 0x3FFF;
    header.height_px = f.u16(28) & 0x3FFF;
  } else if (chunk == "VP8L") {
    const std::uint32_t sides = f.u32(21);
    header.width_px = (sides & 0x3FFF) + 1;
    header.height_px = (sides >> 14 & 0x3FFF) + 1;
    if ((sides >> 28 & 1) != 0) header.alpha = Alpha::kStraight;
  } else {
    return corrupt("the WebP begins with no image chunk");
  }
  header.channels = header.alpha == Alpha::kNone ? 0 : 4;
  constexpr std::uint64_t kRows = 256;
  header.work_bytes = header.width_px * (kRows + made_bytes(f) * header.height_px);
  return header;
}

// netpbm(1): "P" and a digit, then numbers separated by white space and comments.
Result pnm_header(BytesView encoded) {
  const std::string_view text = as_text(encoded);
  std::size_t at = 2;
  const auto skip_space = [&] {
    while (at < text.size()) {
      if (text[at] == '#') {
        at = std::min(text.find('\n', at), text.size());
      } else if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
        ++at;
      } else {
        return;
      }
    }
  };
  const auto next_number = [&]() -> std::optional<std::uint64_t> {
    skip_space();
    std::uint64_t value = 0;
    const std::size_t begin = at;
    while (at < text.size() && at < begin + 9 && text[at] >= '0' && text[at] <= '9') {
      value = value * 10 + static_cast<std::uint64_t>(text[at++] - '0');
    }
    return at == begin ? std::nullopt : std::optional(value);
  };
  const char kind = text[1];
  const bool bitmap = kind == '1' || kind == '4';
  const auto width = next_number();
  const auto height = next_number();
  const auto max_value = bitmap ? std::optional<std::uint64_t>(1) : next_number();
  if (!width || !height || !max_value) {
    if (at >= text.size()) return truncated("the PNM ends within its header");
    return corrupt("the PNM's header has something else than numbers");
  }
  if (*max_value == 0 || *max_value > 65535)
    return corrupt("the PNM's maximum value is not from 1 to 65535");
  Header header;
  header.width_px = *width;
  header.height_px = *height;
  header.gray = kind != '3' && kind != '6';
  header.channels = 0;
  header.max_value = static_cast<std::uint32_t>(*max_value);
  header.pixels_at = std::min(at + 1, text.size());  // after one white-space character
  const std::uint64_t samples = *width * (header.gray ? 1 : 3);
  const std::uint64_t line = kind == '4' ? (*width + 7) / 8 : samples * (*max_value > 255 ? 2 : 1);
  // In text forms every sample has at least one digit and, except in bitmaps, a separator.
  const std::uint64_t least = kind >= '4' ? line : bitmap ? samples : 2 * samples - 1;
  const std::uint64_t rest = text.size() - header.pixels_at;
  if (samples > 0 && *height > 0 && least > rest / *height) {
    return truncated("the PNM ends within its pixels");
  }
  return header;
}

}  // namespace

std::uint64_t decoding_bytes(const Header& header, int channels) noexcept {
  const std::uint64_t pixels = header.width_px * header.height_px;
  const std::uint64_t image_bytes = pixels * static_cast<std::uint64_t>(channels);
  if (header.channels == 0) return image_bytes + header.work_bytes;
  return pixels * header.channels * header.sample_bytes + std::max(header.work_bytes, image_bytes);
}

Result read_header(std::string_view format, BytesView encoded) {
  if (format == "png") return png_header(encoded);
  if (format == "bmp") return bmp_header(encoded);
  if (format == "webp") return webp_header(encoded);
  if (format == "tiff") return tiff_header(EncodedBytes(encoded));
  if (format == "pnm") return pnm_header(encoded);
  return unsupported("no header of " + std::string(format));
}

}  // namespace winnow::pipeline
