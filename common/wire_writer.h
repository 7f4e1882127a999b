#pragma once

#include <cstdint>
#include <string_view>

#include "common/bytes.h"

namespace winnow {

// Writes a Protocol Buffers message: fields in sequence, with their numbers in the schema. The
// reader is datasets/wire.h.
class WireWriter {
 public:
  WireWriter& number(std::uint64_t field, std::int64_t value) {
    key(field, kVarint);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  WireWriter& real(std::uint64_t field, double value) {
    key(field, kFixed64);
    out_.put(value);
    return *this;
  }
  WireWriter& real(std::uint64_t field, float value) {
    key(field, kFixed32);
    out_.put(value);
    return *this;
  }
  WireWriter& bytes(std::uint64_t field, BytesView value) {
    begin_bytes(field, value.size());
    out_.put_bytes(value);
    return *this;
  }
  WireWriter& text(std::uint64_t field, std::string_view value) {
    return bytes(field, as_bytes(value));
  }
  WireWriter& message(std::uint64_t field, WireWriter value) { return bytes(field, value.view()); }
  // Begins a field of `size` bytes. They must follow: by raw(), or directly after this message.
  WireWriter& begin_bytes(std::uint64_t field, std::uint64_t size) {
    key(field, kBytes);
    varint(size);
    return *this;
  }
  // Appends bytes: encoded fields, or the content of a field that was begun.
  WireWriter& raw(BytesView bytes) {
    out_.put_bytes(bytes);
    return *this;
  }
  BytesView view() { return out_.bytes(); }

 private:
  enum Wire : std::uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  void key(std::uint64_t field, Wire type) { varint(field << 3 | type); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_.put(static_cast<std::uint8_t>(value | 0x80));
    out_.put(static_cast<std::uint8_t>(value));
  }

  ByteWriter out_;
};

}  // namespace winnow
