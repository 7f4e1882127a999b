#pragma once

#include <cstdint>
#include <string_view>

#include "common/bytes.h"

namespace winnow::pipeline {

// Reads unsigned integers at any offset of a file, in its byte order; 0 beyond the end. has() tells
// whether bytes exist.
class Fields {
 public:
  Fields(BytesView bytes, bool big_endian) : bytes_(bytes), big_endian_(big_endian) {}

  bool has(std::uint64_t at, std::uint64_t count) const {
    return at <= bytes_.size() && count <= bytes_.size() - at;
  }
  std::uint32_t u8(std::uint64_t at) const {
    return at < bytes_.size() ? std::to_integer<std::uint32_t>(bytes_[at]) : 0;
  }
  std::uint32_t u16(std::uint64_t at) const {
    const std::uint32_t first = u8(at);
    const std::uint32_t second = u8(at + 1);
    return big_endian_ ? first << 8 | second : second << 8 | first;
  }
  std::uint32_t u24(std::uint64_t at) const { return u8(at) | u8(at + 1) << 8 | u8(at + 2) << 16; }
  std::uint32_t u32(std::uint64_t at) const {
    const std::uint32_t first = u16(at);
    const std::uint32_t second = u16(at + 2);
    return big_endian_ ? first << 16 | second : second << 16 | first;
  }
  BytesView bytes(std::uint64_t at, std::uint64_t count) const {
    return has(at, count) ? bytes_.subspan(at, count) : BytesView();
  }
  std::string_view text(std::uint64_t at, std::uint64_t count) const {
    return as_text(bytes(at, count));
  }
  std::uint64_t size() const { return bytes_.size(); }

 private:
  BytesView bytes_;
  bool big_endian_;
};

}  // namespace winnow::pipeline
