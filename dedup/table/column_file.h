#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/bytes.h"
#include "common/checksum.h"
#include "common/file.h"

namespace winnow::dedup {

// The frame that fingerprint and selection files share (docs/formats/fingerprints.md): magic,
// version, a directory of named columns, the columns, XXH3-64 of everything before it.
// A table has exactly one form: order, offsets and padding are fixed, and a reader refuses any
// other.
struct FileKind {
  std::string_view magic;  // 8 characters
  // The newest version. Raise it on any change to the frame or the columns.
  std::uint32_t version;
  std::string_view what;  // For messages: "fingerprint table"
  // Name of a last column that most readers skip; empty: none. The file checksum leaves out its
  // values, NAME:values.
  // The column before it, NAME:hashes, has the XXH3-64 (u64) of each kApartBytes of them.
  std::string_view apart = {};
};

// Block size of the hashes of a column apart. The last block may be shorter.
inline constexpr std::uint64_t kApartBytes = 64 << 10;
constexpr std::uint64_t apart_hash_count(std::uint64_t bytes) noexcept {
  return (bytes + kApartBytes - 1) / kApartBytes;
}
std::vector<std::uint64_t> apart_hashes(BytesView bytes);

// XXH3-128 of the file without the values of its column apart; a manifest records it. The content
// of the file is not checked.
Hash128 hash_of(const InputFile& file, const FileKind& kind);

// The directory entry of a column.
struct ColumnShape {
  std::string name;  // 1 to 39 characters
  std::uint32_t element_bytes = 0;
  std::uint64_t count = 0;
};

// A column in memory, borrowed.
struct ColumnView {
  ColumnShape shape;
  BytesView data;
};

template <class T>
requires std::is_trivially_copyable_v<T> ColumnView column(std::string name,
                                                           std::span<const T> values) {
  return {{std::move(name), sizeof(T), values.size()}, std::as_bytes(values)};
}

template <class T>
std::span<const T> view(const std::vector<T>& values) noexcept {
  return values;
}
inline std::span<const char> view(const std::string& text) noexcept { return text; }

// A column apart (FileKind::apart) is stored as two columns: its values, and the hashes of their
// blocks. These are the names of the two.
inline std::string name_of_values(std::string_view apart) { return std::string(apart) + ":values"; }
inline std::string name_of_hashes(std::string_view apart) { return std::string(apart) + ":hashes"; }

// The bytes of the file. UsageError for a name that is too long for the directory.
Bytes column_file(const FileKind& kind, std::uint64_t rows, const std::vector<ColumnView>& columns);

// Writes the same file from columns that come in pieces. Computes the hashes of a column apart
// itself.
// Durable (DurableFile).
// Errors  UsageError as column_file(); SystemError.
class ColumnFileWriter {
 public:
  ColumnFileWriter(std::filesystem::path path, const FileKind& kind, std::uint64_t rows,
                   std::vector<ColumnShape> columns);
  // Appends to column number `column`. By finish(), each must have as many elements as declared.
  void append(std::size_t column, BytesView elements);
  Hash128 finish();  // Returns hash_of() the file.

 private:
  struct Column {
    ColumnShape shape;
    std::uint64_t next;  // file offset of `gathered`
    std::uint64_t end;
    Bytes gathered;
  };
  void put(Column& to, BytesView elements);
  void flush(Column& column);
  void hash_apart(BytesView elements);
  void end_piece();

  DurableFile file_;
  std::uint64_t size_;     // without the checksum
  std::uint64_t checked_;  // bytes that the checksum covers
  std::vector<Column> columns_;
  // Hash of the current block of the column apart; null: there is no such column.
  std::unique_ptr<Xxh3Stream> piece_;
  std::uint64_t piece_bytes_ = 0;
};

// A column apart (FileKind) that stays in the file. Each block is checked against its hash when
// read.
// Borrows what it is read from. Thread-safe.
class ColumnApart {
 public:
  std::uint64_t bytes() const noexcept { return bytes_; }
  // Reads from `offset` on. The range must lie within the column.
  // Errors  FormatError naming the file; SystemError as InputFile.
  void read(std::uint64_t offset, std::span<std::byte> out) const;

 private:
  friend class ColumnFileReader;
  std::function<void(std::uint64_t, std::span<std::byte>)> read_;
  std::string where_;
  std::string_view what_;
  std::uint64_t at_ = 0;  // offset in the file
  std::uint64_t bytes_ = 0;
  std::vector<std::uint64_t> hashes_;
};

// Hands out the columns in the order in which they were written. Borrows what it reads from.
// Errors  All functions throw FormatError naming `where` or the file; SystemError as InputFile.
class ColumnFileReader {
 public:
  ColumnFileReader(BytesView bytes, const FileKind& kind, std::string where);
  // kVouchedFor: a hash of the whole file has been checked.
  enum class Content { kUnknown, kVouchedFor };
  ColumnFileReader(const InputFile& file, const FileKind& kind, Content content);

  std::uint32_t version() const noexcept { return version_; }
  std::uint64_t rows() const noexcept { return rows_; }
  // The name of the next column; empty after the last.
  std::string_view next_name() const noexcept;

  // Reads the next column, which must have this name, element size and count.
  template <class T>
  requires std::is_trivially_copyable_v<T> std::vector<T> take(std::string_view name,
                                                               std::optional<std::uint64_t> count) {
    const Place& place = next(name, sizeof(T), count);
    std::vector<T> values(place.shape.count);
    read_(place.offset, std::as_writable_bytes(std::span(values)));
    return values;
  }
  std::string take_text(std::string_view name) {
    const std::vector<char> text = take<char>(name, std::nullopt);
    return {text.begin(), text.end()};
  }
  // Like take(), but does not read the column.
  template <class T>
  void skip(std::string_view name, std::optional<std::uint64_t> count) {
    next(name, sizeof(T), count);
  }
  // Like take(), without a copy: borrows from the bytes that this reads, which are at least 8-byte
  // aligned.
  // Throws Error if this reads a file.
  template <class T>
  requires std::is_trivially_copyable_v<T> std::span<const T> view(
      std::string_view name, std::optional<std::uint64_t> count) {
    static_assert(alignof(T) <= 8);
    const Place& place = next(name, sizeof(T), count);
    if (bytes_.empty()) throw Error(std::string(name) + " is read from a file, not from memory");
    const BytesView bytes = bytes_.subspan(place.offset, place.shape.count * sizeof(T));
    return {reinterpret_cast<const T*>(bytes.data()), place.shape.count};
  }
  // Skips the next column, whatever it is.
  void pass() noexcept { ++next_; }
  // Like skip(), and returns where in the file the column lies, for reading it in pieces.
  struct Extent {
    std::uint64_t offset;
    std::uint64_t count;
  };
  template <class T>
  Extent locate(std::string_view name, std::optional<std::uint64_t> count) {
    const Place& place = next(name, sizeof(T), count);
    return {place.offset, place.shape.count};
  }
  // The next column as a column apart, with elements of this size. take_apart() reads its hashes.
  template <class T>
  requires std::is_trivially_copyable_v<T> ColumnApart take_apart() {
    return locate_apart(sizeof(T));
  }
  template <class T>
  std::uint64_t skip_apart() {  // Returns its number of elements.
    return next_apart(sizeof(T)).shape.count;
  }
  // Throws if columns were not taken.
  void finish() const;

  [[noreturn]] void fail(const std::string& why) const;

 private:
  struct Place {
    ColumnShape shape;
    std::uint64_t offset;
  };
  using ReadAt = std::function<void(std::uint64_t, std::span<std::byte>)>;

  ColumnFileReader(ReadAt read, BytesView bytes, std::uint64_t size, const FileKind& kind,
                   std::string where, Content content);
  Bytes bytes_at(std::uint64_t offset, std::uint64_t count) const;
  std::uint64_t checksum_of_first(std::uint64_t count) const;
  const Place& next_apart(std::uint32_t element_bytes);
  ColumnApart locate_apart(std::uint32_t element_bytes);
  void read_directory(std::uint32_t columns, std::uint64_t body_bytes);
  const Place& next(std::string_view name, std::uint32_t element_bytes,
                    std::optional<std::uint64_t> count);

  ReadAt read_;
  BytesView bytes_;  // the whole file; empty when it reads from a file
  std::string where_;
  std::string_view what_;
  std::string_view apart_;
  std::uint32_t version_ = 0;
  std::uint64_t rows_ = 0;
  std::vector<Place> columns_;
  std::size_t next_ = 0;
};

}  // namespace winnow::dedup
