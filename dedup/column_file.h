#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/bytes.h"

namespace winnow::dedup {

// The frame that fingerprint and selection files share (docs/formats/fingerprints.md): magic,
// version, a directory of named columns, the columns, XXH3-64 of everything before it. A table has
// one form: order, offsets and padding are fixed, and a reader refuses any other.
struct FileKind {
  std::string_view magic;  // 8 characters
  std::uint32_t version;   // raise on any change to the frame or the columns
  std::string_view what;   // "fingerprint table", for messages
};

// Where one column lies in a file's bytes.
struct FileColumn {
  std::string name;
  std::uint32_t element_bytes = 0;
  std::uint64_t count = 0;
  BytesView data;  // element_bytes * count; not aligned in memory
};

class ColumnFileWriter {
 public:
  // Borrows `values` until finish. Names are 1 to 39 characters.
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void add(std::string name, std::span<const T> values) {
    columns_.push_back({std::move(name), sizeof(T), values.size(), std::as_bytes(values)});
  }
  // Throws UsageError for a name too long for the directory.
  Bytes finish(const FileKind& kind, std::uint64_t rows) const;

 private:
  std::vector<FileColumn> columns_;
};

// Hands out the columns in the order in which they were added. Borrows `bytes`. Everything throws
// FormatError naming `where`.
class ColumnFileReader {
 public:
  ColumnFileReader(BytesView bytes, const FileKind& kind, std::string where);

  std::uint64_t rows() const noexcept { return rows_; }
  // The name of the next column; empty after the last.
  std::string_view next_name() const noexcept;

  // The next column, which must have this name, elements of this size, and this many of them.
  template <class T>
  requires std::is_trivially_copyable_v<T> std::vector<T> take(std::string_view name,
                                                               std::optional<std::uint64_t> count) {
    const BytesView data = take_bytes(name, sizeof(T), count);
    std::vector<T> values(data.size() / sizeof(T));
    if (!data.empty()) std::memcpy(values.data(), data.data(), data.size());
    return values;
  }
  std::string take_text(std::string_view name) {
    return std::string(as_text(take_bytes(name, 1, std::nullopt)));
  }
  // Refuses columns that nobody took.
  void finish() const;

  [[noreturn]] void fail(const std::string& why) const;

 private:
  BytesView take_bytes(std::string_view name, std::uint32_t element_bytes,
                       std::optional<std::uint64_t> count);

  std::string where_;
  std::string_view what_;
  std::uint64_t rows_ = 0;
  std::vector<FileColumn> columns_;
  std::size_t next_ = 0;
};

}  // namespace winnow::dedup
