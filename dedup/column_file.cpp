#include "dedup/column_file.h"

#include <algorithm>
#include <utility>

#include "common/checksum.h"
#include "common/error.h"

namespace winnow::dedup {
namespace {

constexpr std::size_t kMagicBytes = 8;
constexpr std::size_t kHeaderBytes = 24;
constexpr std::size_t kNameBytes = 40;
constexpr std::size_t kEntryBytes = 64;
constexpr std::size_t kAlignment = 8;
constexpr std::size_t kChecksumBytes = 8;

constexpr std::uint64_t aligned(std::uint64_t offset) noexcept {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

bool all_zero(BytesView bytes) noexcept {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

Bytes ColumnFileWriter::finish(const FileKind& kind, std::uint64_t rows) const {
  ByteWriter out;
  out.put_text(kind.magic);
  out.put(kind.version);
  out.put(static_cast<std::uint32_t>(columns_.size()));
  out.put(rows);
  std::uint64_t offset = kHeaderBytes + kEntryBytes * columns_.size();
  for (const FileColumn& column : columns_) {
    if (column.name.empty() || column.name.size() >= kNameBytes) {
      throw UsageError("the column name '" + column.name + "' does not fit a " +
                       std::string(kind.what) + ": use 1 to 39 characters");
    }
    out.put_text(column.name);
    out.put_bytes(Bytes(kNameBytes - column.name.size()));
    out.put(column.element_bytes);
    out.put(std::uint32_t{0});
    out.put(column.count);
    out.put(offset);
    offset = aligned(offset + column.data.size());
  }
  out.bytes().reserve(offset + kChecksumBytes);
  for (const FileColumn& column : columns_) {
    out.put_bytes(column.data);
    out.pad_to(kAlignment);
  }
  out.put(xxh3_64(out.bytes()));
  return std::move(out).take();
}

ColumnFileReader::ColumnFileReader(BytesView bytes, const FileKind& kind, std::string where)
    : where_(std::move(where)), what_(kind.what) {
  if (bytes.size() < kHeaderBytes + kChecksumBytes) fail("it is too short");
  const BytesView body = bytes.first(bytes.size() - kChecksumBytes);
  ByteReader in(body, where_);
  if (in.get_text(kMagicBytes) != kind.magic) {
    throw FormatError(where_ + " is not a winnow " + std::string(what_) +
                      "; name the right file or make it again");
  }
  const auto version = in.get<std::uint32_t>();
  if (version > kind.version) {
    throw FormatError(where_ + " is a " + std::string(what_) + " of version " +
                      std::to_string(version) + " and this build reads version " +
                      std::to_string(kind.version) + "; use a newer winnow");
  }
  ByteReader tail(bytes.last(kChecksumBytes), where_);
  if (tail.get<std::uint64_t>() != xxh3_64(body)) fail("its checksum is wrong");
  if (version != kind.version) fail("version " + std::to_string(version) + " never existed");

  const auto column_count = in.get<std::uint32_t>();
  rows_ = in.get<std::uint64_t>();
  if (column_count > in.remaining() / kEntryBytes) fail("its directory is cut short");
  std::uint64_t offset = kHeaderBytes + kEntryBytes * std::uint64_t{column_count};
  for (std::uint32_t i = 0; i < column_count; ++i) {
    const BytesView name = in.get_bytes(kNameBytes);
    const auto name_end = std::find(name.begin(), name.end(), std::byte{0});
    const auto name_bytes = static_cast<std::size_t>(name_end - name.begin());
    FileColumn column;
    column.name = std::string(as_text(name.first(name_bytes)));
    column.element_bytes = in.get<std::uint32_t>();
    const auto reserved = in.get<std::uint32_t>();
    column.count = in.get<std::uint64_t>();
    if (name_bytes == 0 || name_bytes == kNameBytes || !all_zero(name.subspan(name_bytes)) ||
        reserved != 0 || column.element_bytes == 0) {
      fail("entry " + std::to_string(i) + " of its directory makes no sense");
    }
    if (in.get<std::uint64_t>() != offset || offset > body.size() ||
        column.count > (body.size() - offset) / column.element_bytes) {
      fail("its column '" + column.name + "' lies in the wrong place");
    }
    column.data = body.subspan(offset, column.count * column.element_bytes);
    const std::uint64_t end = offset + column.data.size();
    offset = aligned(end);
    if (offset > body.size() || !all_zero(body.subspan(end, offset - end))) {
      fail("the padding after its column '" + column.name + "' is not zero");
    }
    columns_.push_back(std::move(column));
  }
  if (offset != body.size()) fail("it has bytes that belong to no column");
}

std::string_view ColumnFileReader::next_name() const noexcept {
  return next_ < columns_.size() ? std::string_view(columns_[next_].name) : std::string_view();
}

BytesView ColumnFileReader::take_bytes(std::string_view name, std::uint32_t element_bytes,
                                       std::optional<std::uint64_t> count) {
  if (next_name() != name) {
    fail("its column '" + std::string(name) + "' is missing or out of order");
  }
  const FileColumn& column = columns_[next_++];
  if (column.element_bytes != element_bytes || (count && column.count != *count)) {
    fail("its column '" + column.name + "' has the wrong size");
  }
  return column.data;
}

void ColumnFileReader::finish() const {
  if (next_ < columns_.size()) fail("it has an unknown column '" + columns_[next_].name + "'");
}

void ColumnFileReader::fail(const std::string& why) const {
  throw FormatError(where_ + " is a damaged " + std::string(what_) + " (" + why +
                    "); make it again");
}

}  // namespace winnow::dedup
