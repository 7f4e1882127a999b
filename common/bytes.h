#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/error.h"

namespace winnow {

static_assert(std::endian::native == std::endian::little,
              "winnow's files are little-endian and are read without conversion");

using Bytes = std::vector<std::byte>;
using BytesView = std::span<const std::byte>;

inline BytesView as_bytes(std::string_view text) noexcept {
  return std::as_bytes(std::span(text.data(), text.size()));
}
template <class T>
BytesView as_bytes(const std::vector<T>& values) noexcept {
  return std::as_bytes(std::span(values));
}
inline std::string_view as_text(BytesView bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <class T>
concept PlainNumber = std::is_arithmetic_v<T> || std::is_enum_v<T>;

// Writes bytes: fixed-width little-endian numbers, and arrays of them, one after the other.
class ByteWriter {
 public:
  template <PlainNumber T>
  void put(T value) {
    put_bytes(std::as_bytes(std::span(&value, 1)));
  }
  template <PlainNumber T>
  void put_array(std::span<const T> values) {
    put_bytes(std::as_bytes(values));
  }
  void put_bytes(BytesView bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
  void put_text(std::string_view text) { put_bytes(as_bytes(text)); }
  // Appends zero bytes until the size is a multiple of `alignment`.
  void pad_to(std::size_t alignment) {
    out_.resize((out_.size() + alignment - 1) / alignment * alignment);
  }
  std::size_t size() const noexcept { return out_.size(); }
  Bytes take() && { return std::move(out_); }
  Bytes& bytes() noexcept { return out_; }

 private:
  Bytes out_;
};

// Reads what ByteWriter wrote. Every read is checked; it throws FormatError naming `where` (the
// file) if the bytes end too soon.
class ByteReader {
 public:
  ByteReader(BytesView bytes, std::string where) : bytes_(bytes), where_(std::move(where)) {}

  template <PlainNumber T>
  T get() {
    T value;
    std::memcpy(&value, get_bytes(sizeof(T)).data(), sizeof(T));
    return value;
  }
  template <PlainNumber T>
  std::vector<T> get_array(std::size_t count) {
    if (count > (bytes_.size() - at_) / sizeof(T)) fail();
    std::vector<T> values(count);
    const BytesView raw = get_bytes(count * sizeof(T));
    if (count > 0) std::memcpy(values.data(), raw.data(), raw.size());
    return values;
  }
  BytesView get_bytes(std::size_t count) {
    if (count > bytes_.size() - at_) fail();
    const BytesView out = bytes_.subspan(at_, count);
    at_ += count;
    return out;
  }
  std::string get_text(std::size_t count) { return std::string(as_text(get_bytes(count))); }
  void align_to(std::size_t alignment) {
    const std::size_t rest = at_ % alignment;
    if (rest != 0) get_bytes(alignment - rest);
  }
  std::size_t position() const noexcept { return at_; }
  std::size_t remaining() const noexcept { return bytes_.size() - at_; }
  const std::string& where() const noexcept { return where_; }

 private:
  [[noreturn]] void fail() const {
    throw FormatError(where_ + " ends too soon: it is damaged or cut short; make it again");
  }

  BytesView bytes_;
  std::string where_;
  std::size_t at_ = 0;
};

}  // namespace winnow
