#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/common/deflate.h"

namespace winnow::test {

struct TiffEntry {
  std::uint32_t tag = 0;
  std::uint32_t type = 4;  // 1: BYTE, 3: SHORT, 4: LONG, 16: LONG8
  std::vector<std::uint64_t> values;
};

struct TiffOptions {
  std::uint32_t width = 64;
  std::uint32_t height = 64;
  std::uint32_t samples = 3;
  std::uint32_t bits = 8;
  std::uint32_t tile_width = 0;  // 0: strips
  std::uint32_t tile_height = 0;
  std::uint32_t strip_rows = 0;  // 0: one strip
  bool deflated = true;
};

// The data of one strip or tile of the size in the options, with few distinct values.
inline std::string tiff_block(const TiffOptions& o) {
  const std::uint64_t width = o.tile_width > 0 ? o.tile_width : o.width;
  const std::uint64_t rows =
      o.tile_height > 0 ? o.tile_height : (o.strip_rows > 0 ? o.strip_rows : o.height);
  const std::uint64_t line = (width * o.samples * o.bits + 7) / 8;
  std::string pixels(line * rows, '\0');
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<char>(i / line % 251);
  if (!o.deflated) return pixels;
  return deflated(pixels, {.level = 1});
}

// The entries of a file. All strips or tiles are the same `block_bytes` bytes, from byte 8 of the
// file.
inline std::vector<TiffEntry> tiff_entries(const TiffOptions& o, std::size_t block_bytes) {
  const bool tiled = o.tile_width > 0;
  const auto parts = [](std::uint64_t whole, std::uint64_t part) {
    return (whole + part - 1) / part;
  };
  const std::uint32_t rows = o.strip_rows > 0 ? o.strip_rows : o.height;
  const std::uint64_t blocks =
      tiled ? parts(o.width, o.tile_width) * parts(o.height, o.tile_height) : parts(o.height, rows);
  std::vector<TiffEntry> entries{
      {256, 4, {o.width}},
      {257, 4, {o.height}},
      {258, 3, std::vector<std::uint64_t>(o.samples, o.bits)},
      {259, 3, {o.deflated ? 8U : 1U}},
      {262, 3, {o.samples >= 3 ? 2U : 1U}},
      {tiled ? 324U : 273U, 4, std::vector<std::uint64_t>(blocks, 8)},
      {277, 3, {o.samples}},
      {tiled ? 325U : 279U, 4, std::vector<std::uint64_t>(blocks, block_bytes)}};
  if (tiled) {
    entries.push_back({322, 4, {o.tile_width}});
    entries.push_back({323, 4, {o.tile_height}});
  } else {
    entries.push_back({278, 4, {rows}});
  }
  if (o.samples == 2 || o.samples == 4) entries.push_back({338, 3, {1}});
  return entries;
}

// A TIFF file. Entries with the same tag keep their order.
inline std::string tiff_file(std::vector<TiffEntry> entries, const std::string& block) {
  const auto number = [](std::uint64_t value, std::size_t bytes) {
    std::string out;
    for (std::size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 255);
    return out;
  };
  std::stable_sort(entries.begin(), entries.end(),
                   [](const TiffEntry& a, const TiffEntry& b) { return a.tag < b.tag; });
  std::string body = block;
  std::string directory = number(entries.size(), 2);
  for (const TiffEntry& entry : entries) {
    const std::size_t size =
        entry.type == 1 ? 1 : (entry.type == 3 ? 2 : (entry.type == 16 ? 8 : 4));
    std::string values;
    for (const std::uint64_t value : entry.values) values += number(value, size);
    if (values.size() > 4) {
      body.resize(body.size() + body.size() % 2);
      const std::size_t at = 8 + body.size();
      body += values;
      values = number(at, 4);
    }
    values.resize(4);
    directory +=
        number(entry.tag, 2) + number(entry.type, 2) + number(entry.values.size(), 4) + values;
  }
  body.resize(body.size() + body.size() % 2);
  return std::string("II*\0", 4) + number(8 + body.size(), 4) + body + directory + number(0, 4);
}

inline std::string make_tiff(const TiffOptions& o) {
  const std::string block = tiff_block(o);
  return tiff_file(tiff_entries(o, block.size()), block);
}

}  // namespace winnow::test
