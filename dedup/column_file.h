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
// version, a directory of named columns, the columns, XXH3-64 of everything before it. A table has
// one form: order, offsets and padding are fixed, and a reader refuses any other.
struct FileKind {
  std::string_view magic;  // 8 characters
  std::uint32_t version;   // the newest: raise on any change to the frame or the columns
  std::string_view what;   // "fingerprint table", for messages
  // A last column that who does not ask for it need not read: no checksum of the file is of the
  // bytes of NAME:values, if it is there. The column before it, NAME:hashes, has their own: XXH3-64
  // (u64) of each kApartBytes.
  std::string_view apart = {};
};

// Of a column apart: so many of its bytes have one hash, the last of them perhaps fewer.
inline constexpr std::uint64_t kApartBytes = 64 << 10;
constexpr std::uint64_t apart_hash_count(std::uint64_t bytes) noexcept {
  return (bytes + kApartBytes - 1) / kApartBytes;
}
std::vector<std::uint64_t> apart_hashes(BytesView bytes);

// XXH3-128 of the file but for the bytes of a column apart, as it is and whatever it is: what a
// manifest says of it.
Hash128 hash_of(const InputFile& file, const FileKind& kind);

// What the directory says of a column.
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

// What a column that lies apart is called: that of its values, and that of their blocks' hashes.
inline std::string name_of_values(std::string_view apart) { return std::string(apart) + ":values"; }
inline std::string name_of_hashes(std::string_view apart) { return std::string(apart) + ":hashes"; }

// The file's bytes. UsageError for a name too long for the directory.
Bytes column_file(const FileKind& kind, std::uint64_t rows, const std::vector<ColumnView>& columns);

// The same file, made of columns that come in pieces. Durable; see DurableFile. Throws SystemError,
// and UsageError as above. Fills in the hashes of a column apart itself.
class ColumnFileWriter {
 public:
  ColumnFileWriter(std::filesystem::path path, const FileKind& kind, std::uint64_t rows,
                   std::vector<ColumnShape> columns);
  // Appends to column number `column`. Each must have as many elements as was said when it ends.
  void append(std::size_t column, BytesView elements);
  Hash128 finish();  // hash_of() the file

 private:
  struct Column {
    ColumnShape shape;
    std::uint64_t next;  // place in the file of what is gathered
    std::uint64_t end;
    Bytes gathered;
  };
  void put(Column& to, BytesView elements);
  void flush(Column& column);
  void hash_apart(BytesView elements);
  void end_piece();

  DurableFile file_;
  std::uint64_t size_;     // without the checksum
  std::uint64_t checked_;  // bytes that the checksum is of
  std::vector<Column> columns_;
  std::unique_ptr<Xxh3Stream> piece_;  // of a column apart, as far as it has come; null: none
  std::uint64_t piece_bytes_ = 0;
};

// A column apart (FileKind), which stays in the file: its bytes are compared with their hashes when
// they are read. Borrows what it is read from. For any number of threads.
class ColumnApart {
 public:
  std::uint64_t bytes() const noexcept { return bytes_; }
  // Throws FormatError naming the file, and SystemError as InputFile does. `offset` is within the
  // column, and so is the end.
  void read(std::uint64_t offset, std::span<std::byte> out) const;

 private:
  friend class ColumnFileReader;
  std::function<void(std::uint64_t, std::span<std::byte>)> read_;
  std::string where_;
  std::string_view what_;
  std::uint64_t at_ = 0;  // in the file
  std::uint64_t bytes_ = 0;
  std::vector<std::uint64_t> hashes_;
};

// Hands out the columns in the order in which they were added. Borrows what it reads from.
// Everything throws FormatError naming `where`, or the file; SystemError as InputFile does.
class ColumnFileReader {
 public:
  ColumnFileReader(BytesView bytes, const FileKind& kind, std::string where);
  enum class Content { kUnknown, kVouchedFor };  // by a hash of the whole that was found right
  ColumnFileReader(const InputFile& file, const FileKind& kind, Content content);

  std::uint32_t version() const noexcept { return version_; }
  std::uint64_t rows() const noexcept { return rows_; }
  // The name of the next column; empty after the last.
  std::string_view next_name() const noexcept;

  // The next column, which must have this name, elements of this size, and this many of them.
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
  // As take(), but without reading it.
  template <class T>
  void skip(std::string_view name, std::optional<std::uint64_t> count) {
    next(name, sizeof(T), count);
  }
  // As take(), in place: borrows from the bytes that this reads, which are aligned to 8 at least.
  // Throws Error: it reads a file, of which no bytes are there.
  template <class T>
  requires std::is_trivially_copyable_v<T> std::span<const T> view(
      std::string_view name, std::optional<std::uint64_t> count) {
    static_assert(alignof(T) <= 8);
    const Place& place = next(name, sizeof(T), count);
    if (bytes_.empty()) throw Error(std::string(name) + " is read from a file, not from memory");
    const BytesView bytes = bytes_.subspan(place.offset, place.shape.count * sizeof(T));
    return {reinterpret_cast<const T*>(bytes.data()), place.shape.count};
  }
  // Over the next column, whatever it is.
  void pass() noexcept { ++next_; }
  // As skip(), and tells where in the file the column lies: for what is read in pieces.
  struct Extent {
    std::uint64_t offset;
    std::uint64_t count;
  };
  template <class T>
  Extent locate(std::string_view name, std::optional<std::uint64_t> count) {
    const Place& place = next(name, sizeof(T), count);
    return {place.offset, place.shape.count};
  }
  // The column apart, which is next, of elements of this size. take_apart() reads its hashes.
  template <class T>
  requires std::is_trivially_copyable_v<T> ColumnApart take_apart() {
    return locate_apart(sizeof(T));
  }
  template <class T>
  std::uint64_t skip_apart() {  // how many elements it has
    return next_apart(sizeof(T)).shape.count;
  }
  // Refuses columns that nobody took.
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
  BytesView bytes_;  // all of them; empty: of a file
  std::string where_;
  std::string_view what_;
  std::string_view apart_;
  std::uint32_t version_ = 0;
  std::uint64_t rows_ = 0;
  std::vector<Place> columns_;
  std::size_t next_ = 0;
};

}  // namespace winnow::dedup
