#include "dedup/table/column_file.h"

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
constexpr std::size_t kGatheredBytes = 256 << 10;  // buffer per column

constexpr std::uint64_t aligned(std::uint64_t offset) noexcept {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

bool all_zero(BytesView bytes) noexcept {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

[[noreturn]] void throw_damaged(const std::string& where, std::string_view what,
                                const std::string& why) {
  throw FormatError(where + " is a damaged " + std::string(what) + " (" + why + "); make it again");
}

bool has_apart(const FileKind& kind, const std::vector<ColumnShape>& columns) {
  return !kind.apart.empty() && columns.size() >= 2 &&
         columns.back().name == name_of_values(kind.apart) &&
         columns[columns.size() - 2].name == name_of_hashes(kind.apart);
}

// Number of leading bytes that the file's checksum covers. Accepts any bytes; the caller checks
// what they claim.
template <class ReadAt>
std::uint64_t checked_bytes(const ReadAt& read, std::uint64_t size, const FileKind& kind) {
  const std::uint64_t body = size - std::min<std::uint64_t>(size, kChecksumBytes);
  if (kind.apart.empty() || body < kHeaderBytes) return body;
  Bytes bytes(kHeaderBytes);
  read(0, bytes);
  ByteReader header(bytes, "");
  const bool is_one = header.get_text(kMagicBytes) == kind.magic;
  header.get<std::uint32_t>();  // the version
  const auto columns = header.get<std::uint32_t>();
  if (!is_one || columns == 0 || columns > (body - kHeaderBytes) / kEntryBytes) return body;
  bytes.resize(kEntryBytes);
  read(kHeaderBytes + kEntryBytes * (std::uint64_t{columns} - 1), bytes);
  ByteReader entry(bytes, "");
  const std::string name = entry.get_text(kNameBytes);
  if (std::string_view(name.c_str()) != name_of_values(kind.apart)) return body;
  entry.get_bytes(kEntryBytes - kNameBytes - sizeof(std::uint64_t));
  return std::min(body, entry.get<std::uint64_t>());
}

// Header and directory, and the offset of each column, followed by the end of the columns.
struct Head {
  Bytes bytes;
  std::vector<std::uint64_t> offsets;
};

Head head_of(const FileKind& kind, std::uint64_t rows, const std::vector<ColumnShape>& columns) {
  ByteWriter out;
  out.put_text(kind.magic);
  out.put(kind.version);
  out.put(static_cast<std::uint32_t>(columns.size()));
  out.put(rows);
  Head head;
  head.offsets.push_back(kHeaderBytes + kEntryBytes * columns.size());
  for (const ColumnShape& column : columns) {
    if (column.name.empty() || column.name.size() >= kNameBytes) {
      throw UsageError("the column name '" + column.name + "' does not fit a " +
                       std::string(kind.what) + ": use 1 to 39 characters");
    }
    out.put_text(column.name);
    out.put_bytes(Bytes(kNameBytes - column.name.size()));
    out.put(column.element_bytes);
    out.put(std::uint32_t{0});
    out.put(column.count);
    out.put(head.offsets.back());
    head.offsets.push_back(aligned(head.offsets.back() + column.count * column.element_bytes));
  }
  head.bytes = std::move(out).take();
  return head;
}

}  // namespace

std::vector<std::uint64_t> apart_hashes(BytesView bytes) {
  std::vector<std::uint64_t> hashes;
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), kApartBytes))) {
    hashes.push_back(xxh3_64(bytes.first(std::min(bytes.size(), kApartBytes))));
  }
  return hashes;
}

Hash128 hash_of(const InputFile& file, const FileKind& kind) {
  const auto read = [&](std::uint64_t offset, std::span<std::byte> out) {
    file.read_at(offset, out);
  };
  const std::uint64_t checked = checked_bytes(read, file.size(), kind);
  Xxh3Stream hash;
  const auto add = [&](BytesView piece) { hash.update(piece); };
  for_each_piece(file, 0, checked, add);
  const std::uint64_t checksum_at =
      file.size() - std::min<std::uint64_t>(file.size(), kChecksumBytes);
  for_each_piece(file, std::max(checked, checksum_at), file.size(), add);
  return hash.digest();
}

Bytes column_file(const FileKind& kind, std::uint64_t rows,
                  const std::vector<ColumnView>& columns) {
  std::vector<ColumnShape> shapes;
  for (const ColumnView& column : columns) shapes.push_back(column.shape);
  Head head = head_of(kind, rows, shapes);
  ByteWriter out;
  out.bytes().reserve(head.offsets.back() + kChecksumBytes);
  out.put_bytes(head.bytes);
  for (const ColumnView& column : columns) {
    out.put_bytes(column.data);
    out.pad_to(kAlignment);
  }
  const std::uint64_t checked =
      has_apart(kind, shapes) ? head.offsets[columns.size() - 1] : head.offsets.back();
  out.put(xxh3_64(BytesView(out.bytes()).first(checked)));
  return std::move(out).take();
}

ColumnFileWriter::ColumnFileWriter(std::filesystem::path path, const FileKind& kind,
                                   std::uint64_t rows, std::vector<ColumnShape> columns)
    : file_(std::move(path)) {
  const Head head = head_of(kind, rows, columns);
  file_.write_at(0, head.bytes);
  size_ = head.offsets.back();
  checked_ = size_;
  if (has_apart(kind, columns)) {
    checked_ = head.offsets[columns.size() - 1];
    piece_ = std::make_unique<Xxh3Stream>();
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::uint64_t bytes = columns[i].count * columns[i].element_bytes;
    columns_.push_back({std::move(columns[i]), head.offsets[i], head.offsets[i] + bytes, Bytes()});
  }
}

void ColumnFileWriter::append(std::size_t column, BytesView elements) {
  put(columns_.at(column), elements);
  if (piece_ && column + 1 == columns_.size()) hash_apart(elements);
}

void ColumnFileWriter::hash_apart(BytesView elements) {
  while (!elements.empty()) {
    const BytesView part = elements.first(std::min(elements.size(), kApartBytes - piece_bytes_));
    piece_->update(part);
    piece_bytes_ += part.size();
    elements = elements.subspan(part.size());
    if (piece_bytes_ == kApartBytes) end_piece();
  }
}

void ColumnFileWriter::end_piece() {
  const std::uint64_t hash = piece_->digest_64();
  put(columns_[columns_.size() - 2], std::as_bytes(std::span(&hash, 1)));
  piece_ = std::make_unique<Xxh3Stream>();
  piece_bytes_ = 0;
}

void ColumnFileWriter::put(Column& to, BytesView elements) {
  if (elements.size() > to.end - to.next - to.gathered.size()) {
    throw Error("the column '" + to.shape.name + "' gets more elements than announced");
  }
  if (to.gathered.size() + elements.size() > kGatheredBytes) flush(to);
  if (elements.size() > kGatheredBytes) {
    file_.write_at(to.next, elements);
    to.next += elements.size();
  } else {
    to.gathered.insert(to.gathered.end(), elements.begin(), elements.end());
  }
}

void ColumnFileWriter::flush(Column& column) {
  if (column.gathered.empty()) return;
  file_.write_at(column.next, column.gathered);
  column.next += column.gathered.size();
  column.gathered.clear();
}

Hash128 ColumnFileWriter::finish() {
  if (piece_bytes_ > 0) end_piece();
  for (Column& column : columns_) {
    flush(column);
    if (column.next != column.end) {
      throw Error("the column '" + column.shape.name + "' got fewer elements than announced");
    }
    const Bytes padding(aligned(column.end) - column.end);
    if (!padding.empty()) file_.write_at(column.end, padding);
  }
  Xxh3Stream hash;
  const auto add = [&](BytesView piece) { hash.update(piece); };
  for_each_piece(file_.written(), 0, checked_, add);
  ByteWriter checksum;
  checksum.put(hash.digest_64());
  hash.update(checksum.bytes());
  file_.write_at(size_, checksum.bytes());
  file_.finish();
  return hash.digest();
}

ColumnFileReader::ColumnFileReader(BytesView bytes, const FileKind& kind, std::string where)
    : ColumnFileReader(
          [bytes](std::uint64_t offset, std::span<std::byte> out) {
            std::ranges::copy(bytes.subspan(offset, out.size()), out.begin());
          },
          bytes, bytes.size(), kind, std::move(where), Content::kUnknown) {}

ColumnFileReader::ColumnFileReader(const InputFile& file, const FileKind& kind, Content content)
    : ColumnFileReader(
          [&file](std::uint64_t offset, std::span<std::byte> out) { file.read_at(offset, out); },
          {}, file.size(), kind, file.path().string(), content) {}

ColumnFileReader::ColumnFileReader(ReadAt read, BytesView bytes, std::uint64_t size,
                                   const FileKind& kind, std::string where, Content content)
    : read_(std::move(read)),
      bytes_(bytes),
      where_(std::move(where)),
      what_(kind.what),
      apart_(kind.apart) {
  if (size < kHeaderBytes + kChecksumBytes) fail("it is too short");
  const std::uint64_t body_bytes = size - kChecksumBytes;
  const Bytes header = bytes_at(0, kHeaderBytes);
  ByteReader in(header, where_);
  if (in.get_text(kMagicBytes) != kind.magic) {
    throw FormatError(where_ + " is not a winnow " + std::string(what_) +
                      "; name the right file or make it again");
  }
  version_ = in.get<std::uint32_t>();
  if (version_ > kind.version) {
    throw FormatError(where_ + " is a " + std::string(what_) + " of version " +
                      std::to_string(version_) + " and this build reads version " +
                      std::to_string(kind.version) + "; use a newer winnow");
  }
  const Bytes tail = bytes_at(body_bytes, kChecksumBytes);
  if (content == Content::kUnknown && ByteReader(tail, where_).get<std::uint64_t>() !=
                                          checksum_of_first(checked_bytes(read_, size, kind))) {
    fail("its checksum is wrong");
  }
  if (version_ == 0) fail("version 0 never existed");
  const auto column_count = in.get<std::uint32_t>();
  rows_ = in.get<std::uint64_t>();
  read_directory(column_count, body_bytes);
}

Bytes ColumnFileReader::bytes_at(std::uint64_t offset, std::uint64_t count) const {
  Bytes bytes(count);
  read_(offset, bytes);
  return bytes;
}

std::uint64_t ColumnFileReader::checksum_of_first(std::uint64_t count) const {
  constexpr std::uint64_t kPieceBytes = 1 << 20;
  if (!bytes_.empty()) return xxh3_64(bytes_.first(count));
  Xxh3Stream hash;
  Bytes piece(std::min(kPieceBytes, count));
  for (std::uint64_t at = 0; at < count; at += piece.size()) {
    piece.resize(std::min(kPieceBytes, count - at));
    read_(at, piece);
    hash.update(piece);
  }
  return hash.digest_64();
}

void ColumnFileReader::read_directory(std::uint32_t columns, std::uint64_t body_bytes) {
  if (columns > (body_bytes - kHeaderBytes) / kEntryBytes) fail("its directory is cut short");
  const Bytes directory = bytes_at(kHeaderBytes, kEntryBytes * std::uint64_t{columns});
  ByteReader in(directory, where_);
  std::uint64_t offset = kHeaderBytes + directory.size();
  for (std::uint32_t i = 0; i < columns; ++i) {
    const BytesView name = in.get_bytes(kNameBytes);
    const auto name_end = std::find(name.begin(), name.end(), std::byte{0});
    const auto name_bytes = static_cast<std::size_t>(name_end - name.begin());
    ColumnShape column;
    column.name = std::string(as_text(name.first(name_bytes)));
    column.element_bytes = in.get<std::uint32_t>();
    const auto reserved = in.get<std::uint32_t>();
    column.count = in.get<std::uint64_t>();
    if (name_bytes == 0 || name_bytes == kNameBytes || !all_zero(name.subspan(name_bytes)) ||
        reserved != 0 || column.element_bytes == 0) {
      fail("entry " + std::to_string(i) + " of its directory is invalid");
    }
    if (in.get<std::uint64_t>() != offset || offset > body_bytes ||
        column.count > (body_bytes - offset) / column.element_bytes) {
      fail("its column '" + column.name + "' lies in the wrong place");
    }
    const std::uint64_t end = offset + column.count * column.element_bytes;
    if (aligned(end) > body_bytes || !all_zero(bytes_at(end, aligned(end) - end))) {
      fail("the padding after its column '" + column.name + "' is not zero");
    }
    columns_.push_back({std::move(column), offset});
    offset = aligned(end);
  }
  if (offset != body_bytes) fail("it has bytes that belong to no column");
}

std::string_view ColumnFileReader::next_name() const noexcept {
  return next_ < columns_.size() ? std::string_view(columns_[next_].shape.name)
                                 : std::string_view();
}

const ColumnFileReader::Place& ColumnFileReader::next(std::string_view name,
                                                      std::uint32_t element_bytes,
                                                      std::optional<std::uint64_t> count) {
  if (next_name() != name) {
    fail("its column '" + std::string(name) + "' is missing or out of order");
  }
  const Place& place = columns_[next_++];
  if (place.shape.element_bytes != element_bytes || (count && place.shape.count != *count)) {
    fail("its column '" + place.shape.name + "' has the wrong size");
  }
  return place;
}

const ColumnFileReader::Place& ColumnFileReader::next_apart(std::uint32_t element_bytes) {
  const Place& hashes = next(name_of_hashes(apart_), sizeof(std::uint64_t), std::nullopt);
  const Place& values = next(name_of_values(apart_), element_bytes, std::nullopt);
  if (hashes.shape.count != apart_hash_count(values.shape.count * element_bytes)) {
    fail("its column '" + hashes.shape.name + "' has the wrong size");
  }
  return values;
}

ColumnApart ColumnFileReader::locate_apart(std::uint32_t element_bytes) {
  const std::size_t at = next_;
  const Place& values = next_apart(element_bytes);
  ColumnApart column;
  column.read_ = read_;
  column.where_ = where_;
  column.what_ = what_;
  column.at_ = values.offset;
  column.bytes_ = values.shape.count * element_bytes;
  column.hashes_.resize(apart_hash_count(column.bytes_));
  read_(columns_[at].offset, std::as_writable_bytes(std::span(column.hashes_)));
  return column;
}

void ColumnApart::read(std::uint64_t offset, std::span<std::byte> out) const {
  Bytes piece;
  while (!out.empty()) {
    const std::uint64_t number = offset / kApartBytes;
    const std::uint64_t begin = number * kApartBytes;
    piece.resize(std::min(kApartBytes, bytes_ - begin));
    read_(at_ + begin, piece);
    if (xxh3_64(piece) != hashes_.at(number)) {
      throw_damaged(where_, what_,
                    "bytes " + std::to_string(at_ + begin) + " to " +
                        std::to_string(at_ + begin + piece.size() - 1) +
                        " are not what was written");
    }
    const BytesView part = BytesView(piece).subspan(offset - begin);
    const std::size_t count = std::min(part.size(), out.size());
    std::ranges::copy(part.first(count), out.begin());
    out = out.subspan(count);
    offset += count;
  }
}

void ColumnFileReader::finish() const {
  if (next_ < columns_.size())
    fail("it has an unknown column '" + columns_[next_].shape.name + "'");
}

void ColumnFileReader::fail(const std::string& why) const { throw_damaged(where_, what_, why); }

}  // namespace winnow::dedup
