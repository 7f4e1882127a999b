#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "pipeline/decode/bmp_internal.h"
#include "pipeline/decode/errors_internal.h"
#include "pipeline/decode/fields_internal.h"

namespace winnow::pipeline {
namespace {

enum Compression : std::uint32_t { kUncompressed = 0, kRuns8 = 1, kRuns4 = 2, kMasks = 3 };

// As samples are: blue first.
using Colour = std::array<std::uint8_t, 4>;

struct Layout {
  std::uint64_t pixels_at = 0;
  std::uint32_t bits = 0;
  std::uint32_t compression = kUncompressed;
  bool top_down = false;
  std::array<Colour, 256> palette{};
  std::array<std::uint32_t, 4> masks{};  // B, G, R, A
};

// Defaults for 16 and 32 bits.
constexpr std::array<std::uint32_t, 4> kMasks16{0x1F, 0x3E0, 0x7C00, 0};
constexpr std::array<std::uint32_t, 4> kMasks32{0xFF, 0xFF00, 0xFF0000, 0};

Layout layout_of(const Fields& f) {
  const std::uint32_t header_bytes = f.u32(14);
  const bool old = header_bytes == 12;
  Layout layout{.pixels_at = f.u32(10), .bits = old ? f.u16(24) : f.u16(28)};
  if (!old) {
    layout.compression = f.u32(30);
    layout.top_down = static_cast<std::int32_t>(f.u32(22)) < 0;
  }
  if (layout.bits <= 8) {
    const std::uint32_t all = 1U << layout.bits;
    const std::uint32_t used = old ? 0 : f.u32(46);
    const std::uint32_t colours = used == 0 ? all : std::min(used, all);
    const std::uint64_t step = old ? 3 : 4;
    for (std::uint32_t i = 0; i < colours; ++i) {
      const std::uint64_t at = 14 + std::uint64_t{header_bytes} + i * step;
      for (std::uint32_t c = 0; c < 3; ++c) {
        layout.palette[i][c] = static_cast<std::uint8_t>(f.u8(at + c));
      }
    }
  }
  layout.masks = layout.bits == 16 ? kMasks16 : kMasks32;
  if (layout.compression == kMasks) {
    layout.masks = {f.u32(62), f.u32(58), f.u32(54), header_bytes >= 56 ? f.u32(66) : 0};
  }
  return layout;
}

bool is_supported(const Layout& layout) {
  switch (layout.compression) {
    case kUncompressed:
      return layout.bits == 1 || layout.bits == 4 || layout.bits == 8 || layout.bits == 16 ||
             layout.bits == 24 || layout.bits == 32;
    case kRuns8:
      return layout.bits == 8;
    case kRuns4:
      return layout.bits == 4;
    case kMasks:
      return layout.bits == 16 || layout.bits == 32;
    default:
      return false;
  }
}

void put(Samples& to, int x, int y, const Colour& colour) {
  const auto channels = static_cast<std::size_t>(to.channels);
  std::copy_n(colour.begin(), channels, to.row(y) + static_cast<std::size_t>(x) * channels);
}

// The bits of a mask, scaled to 8.
std::uint8_t masked(std::uint32_t pixel, std::uint32_t mask) {
  if (mask == 0) return 0;
  const int shift = std::countr_zero(mask);
  const std::uint64_t most = mask >> shift;
  const std::uint64_t value = (pixel & mask) >> shift;
  return static_cast<std::uint8_t>(most == 255 ? value : (value * 255 + most / 2) / most);
}

// For any number of bits except 24.
Colour colour_at(const Layout& layout, const Fields& line, std::uint64_t x) {
  const std::uint32_t bits = layout.bits;
  if (bits <= 8) {
    const std::uint64_t in_byte = x * bits % 8;
    const std::uint32_t shift = 8 - bits - static_cast<std::uint32_t>(in_byte);
    return layout.palette[line.u8(x * bits / 8) >> shift & ((1U << bits) - 1)];
  }
  const std::uint64_t at = x * bits / 8;
  const std::uint32_t pixel = bits == 16 ? line.u16(at) : line.u32(at);
  Colour colour{};
  for (std::size_t c = 0; c < colour.size(); ++c) colour[c] = masked(pixel, layout.masks[c]);
  return colour;
}

int row_of(const Layout& layout, int line, const Samples& to) {
  return layout.top_down ? line : to.height_px - 1 - line;
}

void read_lines(const Layout& layout, const Fields& f, Samples& to, const StopRequested& stop) {
  const auto width = static_cast<std::uint64_t>(to.width_px);
  const std::uint64_t line_bytes = (width * layout.bits + 31) / 32 * 4;
  for (int line = 0; line < to.height_px; ++line) {
    end_if_stopped(stop);
    const std::uint64_t at = layout.pixels_at + line_bytes * static_cast<std::uint64_t>(line);
    const Fields pixels(f.bytes(at, line_bytes), false);
    const int y = row_of(layout, line, to);
    if (layout.bits == 24) {  // as they are to be
      std::memcpy(to.row(y), f.bytes(at, line_bytes).data(), 3 * width);
      continue;
    }
    for (int x = 0; x < to.width_px; ++x) {
      put(to, x, y, colour_at(layout, pixels, static_cast<std::uint64_t>(x)));
    }
  }
}

// Run-length encoding in pairs of bytes: a count and the index to repeat; or 0 followed by end of
// line (0), end of picture (1), a step right and up (2), or the number of literal indices that
// follow, padded to 16 bits. Some writers omit the end of a full line. Skipped pixels get the
// palette's first colour.
std::optional<DecodeError> read_runs(const Layout& layout, const Fields& f, Samples& to,
                                     const StopRequested& stop) {
  for (int y = 0; y < to.height_px; ++y) {
    for (int x = 0; x < to.width_px; ++x) put(to, x, y, layout.palette[0]);
  }
  const bool by_halves = layout.compression == kRuns4;
  // Index number `i` in the bytes from `at` on.
  const auto index = [&](std::uint64_t at, std::uint32_t i) {
    if (!by_halves) return f.u8(at + i);
    return f.u8(at + i / 2) >> (i % 2 == 0 ? 4 : 0) & 0xFU;
  };
  std::uint64_t at = layout.pixels_at;
  int x = 0;
  int line = 0;
  const auto has_room = [&](std::uint32_t count) {
    return count <= static_cast<std::uint32_t>(to.width_px - x);
  };
  while (line < to.height_px) {
    if (!f.has(at, 2)) return truncated("the BMP ends within its pixels");
    const std::uint32_t count = f.u8(at);
    const std::uint32_t code = f.u8(at + 1);
    at += 2;
    if (x == to.width_px && (count > 0 || code > 2)) {
      x = 0;
      if (++line == to.height_px) break;
    }
    if (count > 0) {
      if (!has_room(count))
        return corrupt("a run of equal pixels in the BMP is longer than its line");
      for (std::uint32_t i = 0; i < count; ++i, ++x) {
        put(to, x, row_of(layout, line, to), layout.palette[index(at - 1, by_halves ? i % 2 : 0)]);
      }
    } else if (code == 0) {
      end_if_stopped(stop);
      x = 0;
      ++line;
    } else if (code == 1) {
      return std::nullopt;
    } else if (code == 2) {
      if (!f.has(at, 2)) return truncated("the BMP ends within its pixels");
      if (!has_room(f.u8(at))) return corrupt("a skip in the BMP leads beyond the end of its line");
      x += static_cast<int>(f.u8(at));
      line += static_cast<int>(f.u8(at + 1));
      at += 2;
    } else {
      if (!has_room(code))
        return corrupt("a run of equal pixels in the BMP is longer than its line");
      const std::uint32_t bytes = by_halves ? (code + 1) / 2 : code;
      if (!f.has(at, bytes)) return truncated("the BMP ends within its pixels");
      for (std::uint32_t i = 0; i < code; ++i, ++x) {
        put(to, x, row_of(layout, line, to), layout.palette[index(at, i)]);
      }
      at += bytes + bytes % 2;
    }
  }
  return std::nullopt;
}

}  // namespace

Expected<Samples, DecodeError> read_bmp(BytesView encoded, const Header& header,
                                        const StopRequested& stop) {
  const Fields f(encoded, false);
  const Layout layout = layout_of(f);
  if (!is_supported(layout)) {
    return unsupported("is a BMP of " + std::to_string(layout.bits) + " bits and compression " +
                       std::to_string(layout.compression) + "; convert it to 24 bits");
  }
  Samples to(static_cast<int>(header.height_px), static_cast<int>(header.width_px),
             static_cast<int>(header.channels));
  if (layout.compression == kRuns8 || layout.compression == kRuns4) {
    if (auto error = read_runs(layout, f, to, stop)) return *std::move(error);
  } else {
    read_lines(layout, f, to, stop);
  }
  return to;
}

}  // namespace winnow::pipeline
