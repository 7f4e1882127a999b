#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "pipeline/decode/errors_internal.h"
#include "pipeline/decode/tiff_directory_internal.h"

namespace winnow::pipeline {
namespace {

using namespace tiff;

// Those that have one value.
constexpr std::array kSingle{kWidth,   kHeight,    kCompression, kPhotometric, kOrientation,
                             kSamples, kStripRows, kPlanes,      kTileWidth,   kTileHeight};
constexpr std::array kSeveral{kBits,        kStripOffsets, kStripBytes,
                              kTileOffsets, kTileBytes,    kExtraSamples};

// What else pixels depend on: bit order, CCITT's options, predictor, white point, palette, inks,
// sample format, JPEG's tables by both of its kinds, and what Y, Cb and Cr mean.
constexpr std::array<std::uint32_t, 21> kOthers{266, 292, 293, 317, 318, 320, 332,
                                                339, 347, 512, 513, 514, 515, 517,
                                                518, 519, 520, 521, 529, 530, 532};

constexpr std::uint32_t kShort = 3;
constexpr std::uint32_t kLong = 4;
constexpr std::uint64_t kEntryBytes = 12;

bool is_one_of(const auto& values, std::uint64_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

std::uint64_t parts(std::uint64_t whole, std::uint64_t part) {
  return part == 0 ? 0 : (whole + part - 1) / part;
}

// Writes numbers in a file's byte order.
class Writer {
 public:
  explicit Writer(bool big_endian) : big_endian_(big_endian) {}

  void number(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
      const int shift = 8 * (big_endian_ ? bytes - 1 - i : i);
      out_.push_back(static_cast<std::byte>(value >> shift & 255));
    }
  }
  void bytes(BytesView some) { out_.insert(out_.end(), some.begin(), some.end()); }
  Bytes take() { return std::move(out_); }

 private:
  bool big_endian_;
  Bytes out_;
};

}  // namespace

std::optional<DecodeError> TiffDirectory::read() {
  const Fields& f = fields_;
  const std::uint64_t begin = f.u32(4);
  if (!f.has(begin, 2) || !f.has(begin + 2, kEntryBytes * f.u16(begin))) {
    return truncated("the TIFF ends before its directory");
  }
  for (std::uint64_t i = 0; i < f.u16(begin); ++i) {
    if (auto error = read_entry(begin + 2 + kEntryBytes * i)) return error;
  }
  return std::nullopt;
}

std::optional<DecodeError> TiffDirectory::read_entry(std::uint64_t at) {
  const Fields& f = fields_;
  const std::uint32_t tag = f.u16(at);
  const std::uint32_t type = f.u16(at + 2);
  const bool is_single = is_one_of(kSingle, tag);
  const bool matters = is_single || is_one_of(kSeveral, tag);
  const std::string name = "the TIFF's tag " + std::to_string(tag);
  if (matters || is_one_of(kOthers, tag)) entries_.emplace(tag, at);
  if (matters && tags_.contains(tag)) return corrupt(name + " is there twice");
  if (type != kShort && type != kLong) {
    if (!matters) return std::nullopt;
    return corrupt(name + " is of type " + std::to_string(type) + ", not a SHORT or LONG");
  }
  TiffNumbers n{at + 8, f.u32(at + 4), type == kShort ? 2U : 4U};
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

TiffNumbers TiffDirectory::find(std::uint32_t tag) const {
  const auto at = tags_.find(tag);
  return at == tags_.end() ? TiffNumbers{} : at->second;
}

std::uint64_t TiffDirectory::number(const TiffNumbers& n, std::uint64_t i) const {
  return n.bytes == 2 ? fields_.u16(n.at + 2 * i) : fields_.u32(n.at + 4 * i);
}

std::uint64_t TiffDirectory::first(std::uint32_t tag, std::uint64_t otherwise) const {
  const TiffNumbers n = find(tag);
  return n.count == 0 ? otherwise : number(n, 0);
}

std::uint64_t TiffBlocks::across() const noexcept { return parts(width_px, block_width_px); }
std::uint64_t TiffBlocks::down() const noexcept { return parts(height_px, block_height_px); }

std::uint64_t TiffBlocks::stack_height_px() const noexcept {
  return tiled ? count() * block_height_px : height_px;
}

TiffBlocks blocks_of(const TiffDirectory& directory) {
  TiffBlocks blocks;
  blocks.width_px = directory.first(kWidth, 0);
  blocks.height_px = directory.first(kHeight, 0);
  blocks.tiled = directory.find(kTileWidth).count > 0 || directory.find(kTileHeight).count > 0;
  if (blocks.tiled) {
    blocks.block_width_px = directory.first(kTileWidth, 0);
    blocks.block_height_px = directory.first(kTileHeight, 0);
    return blocks;
  }
  blocks.block_width_px = blocks.width_px;
  blocks.block_height_px =
      std::min(directory.first(kStripRows, blocks.height_px), blocks.height_px);
  return blocks;
}

bool is_read_whole(const TiffDirectory& directory) {
  constexpr std::uint64_t kYcbcr = 6;
  const std::uint64_t compression = directory.first(kCompression, 1);
  const bool is_packed = directory.first(kPhotometric, 2) == kYcbcr && compression != kJpeg;
  return compression == kOldJpeg || compression == kWebp || is_packed;
}

bool is_block_read_at_once(const TiffDirectory& directory, const TiffBlocks& blocks) {
  constexpr std::uint64_t kFewPixels = 1u << 18;
  const std::uint64_t compression = directory.first(kCompression, 1);
  if (is_read_whole(directory)) return true;
  const bool is_small = blocks.block_width_px * blocks.block_height_px <= kFewPixels;
  constexpr std::array<std::uint64_t, 5> kByRows{kPlain, 2, 3, 4, kJpeg};
  return is_small && !is_one_of(kByRows, compression);
}

std::uint64_t piece_rows(const TiffDirectory& directory, const TiffBlocks& blocks) {
  constexpr std::uint64_t kPiecePixels = 1u << 16;
  if (is_block_read_at_once(directory, blocks)) return blocks.block_height_px;
  const std::uint64_t rows = kPiecePixels / std::max<std::uint64_t>(1, blocks.block_width_px);
  return std::min(std::max<std::uint64_t>(1, rows), blocks.block_height_px);
}

Bytes stacked_directory(const TiffDirectory& directory, const TiffBlocks& blocks) {
  const std::map<std::uint32_t, std::uint64_t> sizes{{kWidth, blocks.block_width_px},
                                                     {kHeight, blocks.stack_height_px()},
                                                     {kStripRows, blocks.block_height_px}};
  // In the order of what they become. Tiles may be where strips are said to be.
  std::multimap<std::uint32_t, BytesView> copied;
  for (const auto& [tag, at] : directory.entries()) {
    const bool is_size = sizes.contains(tag) || tag == kTileWidth || tag == kTileHeight;
    if (is_size || tag == kOrientation) continue;
    const std::uint32_t becomes = tag == kTileOffsets ? kStripOffsets
                                  : tag == kTileBytes ? kStripBytes
                                                      : tag;
    copied.emplace(becomes, directory.fields().bytes(at, kEntryBytes));
  }
  Writer out(directory.is_big_endian());
  out.number(copied.size() + sizes.size(), 2);
  auto size = sizes.begin();
  const auto put_size = [&] {
    out.number(size->first, 2);
    out.number(kLong, 2);
    out.number(1, 4);
    out.number(size->second, 4);
    ++size;
  };
  for (const auto& [tag, entry] : copied) {
    while (size != sizes.end() && size->first < tag) put_size();
    out.number(tag, 2);
    out.bytes(entry.subspan(2));
  }
  while (size != sizes.end()) put_size();
  out.number(0, 4);  // no other directory
  return out.take();
}

}  // namespace winnow::pipeline
