#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "common/bytes.h"
#include "common/file.h"

// A reader for the wire format of Protocol Buffers, as far as image formats need it: fields in
// sequence, without a schema.
// Long fields are skipped, never loaded. (protozero needs the whole message in memory; opening a
// set would read all its images.)
namespace winnow::datasets {

// Returns `count` bytes at `offset`, valid until the next call. Here `count` is at most 64.
using Look = std::function<BytesView(std::uint64_t offset, std::size_t count)>;

// Reads from a file, a few KiB at a time; SystemError. The file must outlive the result.
Look look_into(const InputFile& file);
Look look_into(BytesView bytes);

struct WireRange {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
};

struct WireField {
  std::uint64_t number = 0;
  bool is_range = false;    // strings, bytes, messages, packed numbers
  std::uint64_t value = 0;  // else: the number
  WireRange range;
};

// Iterates over the fields of a message. When next() has returned false, bad() tells whether the
// bytes were invalid: a field beyond the end, an impossible number or field.
class WireReader {
 public:
  WireReader(const Look& look, WireRange message)
      : look_(look), at_(message.begin), end_(message.begin + message.size) {}

  bool next(WireField& field);
  bool varint(std::uint64_t& value);  // for packed numbers; also false at the end
  bool bad() const noexcept { return bad_; }

 private:
  bool fail() noexcept {
    bad_ = true;
    return false;
  }
  bool fixed(std::size_t bytes, std::uint64_t& value);

  const Look& look_;
  std::uint64_t at_;
  std::uint64_t end_;
  bool bad_ = false;
};

}  // namespace winnow::datasets
