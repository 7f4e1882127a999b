#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "pipeline/decode/errors_internal.h"
#include "pipeline/decode/tiff_directory_internal.h"

namespace winnow::pipeline {
namespace {

using namespace tiff;

// Tags with a single value.
constexpr std::array kSingle{kWidth,   kHeight,    kCompression, kPhotometric, kOrientation,
                             kSamples, kStripRows, kPlanes,      kTileWidth,   kTileHeight};
constexpr std::array kSeveral{kBits,        kStripOffsets, kStripBytes,
                              kTileOffsets, kTileBytes,    kExtraSamples};

// Other tags that affect pixels: bit order, CCITT options, predictor, white point, palette, inks,
// sample format, JPEG tables of both kinds, and the meaning of Y, Cb and Cr.
constexpr std::array<std::uint32_t, 21> kOthers{266, 292, 293, 317, 318, 320, 332,
                                                339, 347, 512, 513, 514, 515, 517,
                                                518, 519, 520, 521, 529, 530, 532};

constexpr std::uint32_t kShort = 3;
constexpr std::uint32_t kLong = 4;
constexpr std::uint32_t kLong8 = 16;  // in BigTIFFs
constexpr std::uint64_t kPageBytes = 1u << 16;

// Size of an integer of this type; 0: not supported.
std::uint32_t bytes_of_type(std::uint32_t type, bool is_big) {
  if (type == kShort) return 2;
  if (type == kLong) return 4;
  return type == kLong8 && is_big ? 8 : 0;
}

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

TiffFields::TiffFields(EncodedBytes encoded) : encoded_(std::move(encoded)) {
  big_endian_ = bytes(0, 1).size() == 1 && bytes(0, 1)[0] == std::byte{'M'};
}

std::uint64_t TiffFields::number(std::uint64_t at, std::uint32_t bytes) const {
  if (!has(at, bytes)) return 0;
  BytesView from;
  if (const std::optional<BytesView> all = encoded_.in_memory()) {
    from = all->subspan(at, bytes);
  } else {
    if (at < at_ || at + bytes > at_ + page_.size()) {
      at_ = at / kPageBytes * kPageBytes;
      // With an overlap, so that no number crosses its end.
      page_.resize(std::min<std::uint64_t>(kPageBytes + 8, size() - at_));
      encoded_.read_at(at_, page_);
    }
    from = BytesView(page_).subspan(at - at_, bytes);
  }
  std::uint64_t number = 0;
  for (std::uint32_t i = 0; i < bytes; ++i) {
    const std::uint32_t shift = 8 * (big_endian_ ? bytes - 1 - i : i);
    number |= std::to_integer<std::uint64_t>(from[i]) << shift;
  }
  return number;
}

BytesView TiffFields::bytes(std::uint64_t at, std::uint64_t count) const {
  if (!has(at, count)) return {};
  if (const std::optional<BytesView> all = encoded_.in_memory()) return all->subspan(at, count);
  some_.resize(count);
  encoded_.read_at(at, some_);
  return some_;
}

std::optional<DecodeError> TiffDirectory::read() {
  const TiffFields& f = fields_;
  if (is_big() && (f.u16(4) != 8 || f.u16(6) != 0)) {
    return corrupt("the BigTIFF's offsets are not of 8 bytes");
  }
  const std::uint64_t begin = f.number(is_big() ? 8 : 4, offset_bytes());
  const std::uint32_t count_bytes = is_big() ? 8 : 2;
  const std::uint64_t count = f.number(begin, count_bytes);
  constexpr std::uint64_t kMostEntries = 65'535;
  if (count > kMostEntries) {
    return corrupt("the BigTIFF has " + std::to_string(count) + " entries in its directory");
  }
  if (!f.has(begin, count_bytes) || !f.has(begin + count_bytes, entry_bytes() * count)) {
    return truncated("the TIFF ends before its directory");
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    if (auto error = read_entry(begin + count_bytes + entry_bytes() * i)) return error;
  }
  return std::nullopt;
}

std::optional<DecodeError> TiffDirectory::read_entry(std::uint64_t at) {
  const TiffFields& f = fields_;
  const std::uint32_t tag = f.u16(at);
  const std::uint32_t type = f.u16(at + 2);
  const bool is_single = is_one_of(kSingle, tag);
  const bool matters = is_single || is_one_of(kSeveral, tag);
  const std::string name = "the TIFF's tag " + std::to_string(tag);
  if (matters || is_one_of(kOthers, tag)) entries_.emplace(tag, at);
  if (matters && tags_.contains(tag)) return corrupt(name + " occurs twice");
  const std::uint32_t bytes = bytes_of_type(type, is_big());
  if (bytes == 0) {
    if (!matters) return std::nullopt;
    return corrupt(name + " is of type " + std::to_string(type) + ", not a SHORT or LONG");
  }
  const std::uint64_t values_at = at + 4 + offset_bytes();
  TiffNumbers n{values_at, f.number(at + 4, offset_bytes()), bytes};
  if (n.count > f.size()) return truncated("the TIFF ends within its directory");
  if (n.count * n.bytes > offset_bytes()) n.at = f.number(values_at, offset_bytes());
  if (!f.has(n.at, n.count * n.bytes)) {
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
  return fields_.number(n.at + n.bytes * i, n.bytes);
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
  // In the order of the resulting tags. Tiles may be stored in tags of strips.
  std::multimap<std::uint32_t, Bytes> copied;
  for (const auto& [tag, at] : directory.entries()) {
    const bool is_size = sizes.contains(tag) || tag == kTileWidth || tag == kTileHeight;
    if (is_size || tag == kOrientation) continue;
    const std::uint32_t becomes = tag == kTileOffsets ? kStripOffsets
                                  : tag == kTileBytes ? kStripBytes
                                                      : tag;
    const BytesView entry = directory.fields().bytes(at, directory.entry_bytes());
    copied.emplace(becomes, Bytes(entry.begin(), entry.end()));
  }
  Writer out(directory.is_big_endian());
  const auto offset_bytes = static_cast<int>(directory.offset_bytes());
  out.number(copied.size() + sizes.size(), directory.is_big() ? 8 : 2);
  auto size = sizes.begin();
  const auto put_size = [&] {
    out.number(size->first, 2);
    out.number(kLong, 2);
    out.number(1, offset_bytes);
    out.number(size->second, 4);
    if (directory.is_big()) out.number(0, 4);
    ++size;
  };
  for (const auto& [tag, entry] : copied) {
    while (size != sizes.end() && size->first < tag) put_size();
    out.number(tag, 2);
    out.bytes(BytesView(entry).subspan(2));
  }
  while (size != sizes.end()) put_size();
  out.number(0, offset_bytes);  // no further directory
  return out.take();
}

}  // namespace winnow::pipeline
