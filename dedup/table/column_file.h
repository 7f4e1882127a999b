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

// Describes one kind of column file (fingerprint tables, selections): magic, version, a directory
// of named columns, the columns, XXH3-64 of everything before it (docs/formats/fingerprints.md).
// A table has exactly one form: order, offsets and padding are fixed, and a reader refuses any
// other.
struct FileKind {
  std::string_view magic;  // 8 characters
  // The newest version of this kind of file. Raise it on any change to the file layout or the
  // columns.
  std::uint32_t version;
  std::string_view what;  // For messages: "fingerprint table"
  // Name of the last column if it is a "column apart": large, and read only on request. Empty:
  // there is none.
  // It is stored as NAME:values, which the file checksum leaves out, and before it NAME:hashes, the
  // XXH3-64 (u64) of each block of kApartBytes.
  std::string_view apart = {};
};

// A column apart is a large column that is read on request, in blocks with a hash each
// (FileKind::apart). This is the size of a block in bytes. The last block may be shorter.
inline constexpr std::uint64_t kApartBytes = 64 << 10;
constexpr std::uint64_t apart_hash_count(std::uint64_t bytes) noexcept {
  return (bytes + kApartBytes - 1) / kApartBytes;
}
std::vector<std::uint64_t> apart_hashes(BytesView bytes);

// The hash that identifies a file of this kind, as recorded in a manifest: XXH3-128 of the file
// without the values of its column apart (the large one that is read on request). Does not check
// the file's content.
Hash128 hash_of(const InputFile& file, const FileKind& kind);

// The directory entry of a column.
struct ColumnShape {
  std::string name;  // 1 to 39 characters
  std::uint32_t element_bytes = 0;
  std::uint64_t count = 0;
};

// A column in memory. Borrows the bytes.
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

// A column apart (large, read on request) is stored as two columns: its values, and the hashes of
// their blocks. These are the names of both.
inline std::string name_of_values(std::string_view apart) { return std::string(apart) + ":values"; }
inline std::string name_of_hashes(std::string_view apart) { return std::string(apart) + ":hashes"; }

// The bytes of a column file. Throws UsageError for a column name that is too long for the
// directory.
Bytes column_file(const FileKind& kind, std::uint64_t rows, const std::vector<ColumnView>& columns);

// Writes a column file whose columns arrive in pieces: the same bytes as column_file(). Computes
// the block hashes of a column apart (large, read on request). The file is durable (DurableFile).
// Errors  UsageError as column_file(); SystemError.
class ColumnFileWriter {
 public:
  ColumnFileWriter(std::filesystem::path path, const FileKind& kind, std::uint64_t rows,
                   std::vector<ColumnShape> columns);
  // Appends elements to column number `column`. Before finish(), each column must have got as many
  // as its shape declares.
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
  std::uint64_t checked_;  // number of bytes that the file checksum covers
  std::vector<Column> columns_;
  // Hash of the current block of the column apart (large, read on request); nullptr: there is none.
  std::unique_ptr<Xxh3Stream> piece_;
  std::uint64_t piece_bytes_ = 0;
};

// Reads a column apart (large, read on request) in pieces from its file. Each block is checked
// against its hash when read.
// Borrows the file or bytes. Thread-safe.
class ColumnApart {
 public:
  std::uint64_t bytes() const noexcept { return bytes_; }
  // Reads bytes at `offset` of the column. The range must lie within the column.
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

// Reads a column file column by column, in the order in which they were written. Borrows the file
// or bytes.
// Errors  All functions throw FormatError naming `where` or the file; SystemError as InputFile.
class ColumnFileReader {
 public:
  ColumnFileReader(BytesView bytes, const FileKind& kind, std::string where);
  // kVouchedFor: the caller has checked the content by a hash of the whole file.
  enum class Content { kUnknown, kVouchedFor };
  ColumnFileReader(const InputFile& file, const FileKind& kind, Content content);

  std::uint32_t version() const noexcept { return version_; }
  std::uint64_t rows() const noexcept { return rows_; }
  // The name of the next column; empty after the last one.
  std::string_view next_name() const noexcept;

  // Reads the next column, which must have this name, element size and count (nullopt: any).
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
  // Like take(), but skips the column without reading it.
  template <class T>
  void skip(std::string_view name, std::optional<std::uint64_t> count) {
    next(name, sizeof(T), count);
  }
  // Like take(), without a copy: borrows from the bytes in memory, which are at least 8-byte
  // aligned. Throws Error if the reader reads a file.
  template <class T>
  requires std::is_trivially_copyable_v<T> std::span<const T> view(
      std::string_view name, std::optional<std::uint64_t> count) {
    static_assert(alignof(T) <= 8);
    const Place& place = next(name, sizeof(T), count);
    if (bytes_.empty()) throw Error(std::string(name) + " is read from a file, not from memory");
    const BytesView bytes = bytes_.subspan(place.offset, place.shape.count * sizeof(T));
    return {reinterpret_cast<const T*>(bytes.data()), place.shape.count};
  }
  // Skips the next column, whatever its name and size.
  void pass() noexcept { ++next_; }
  // Like skip(); also returns where in the file the column lies, for reading it in pieces.
  struct Extent {
    std::uint64_t offset;
    std::uint64_t count;
  };
  template <class T>
  Extent locate(std::string_view name, std::optional<std::uint64_t> count) {
    const Place& place = next(name, sizeof(T), count);
    return {place.offset, place.shape.count};
  }
  // Opens the next column, which must be a column apart (large, read on request) with elements of
  // type T. Reads its block hashes only.
  template <class T>
  requires std::is_trivially_copyable_v<T> ColumnApart take_apart() {
    return locate_apart(sizeof(T));
  }
  template <class T>
  std::uint64_t skip_apart() {  // Returns the number of elements.
    return next_apart(sizeof(T)).shape.count;
  }
  // Throws FormatError if there are columns left.
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
  BytesView bytes_;  // the whole file in memory; empty if the reader reads a file
  std::string where_;
  std::string_view what_;
  std::string_view apart_;
  std::uint32_t version_ = 0;
  std::uint64_t rows_ = 0;
  std::vector<Place> columns_;
  std::size_t next_ = 0;
};

}  // namespace winnow::dedup
