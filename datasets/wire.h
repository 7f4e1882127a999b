#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "common/bytes.h"
#include "common/file.h"

// Reads Protocol Buffers messages, as far as image formats need it: fields in sequence, without a
// schema.
// Long fields are skipped, never loaded. (protozero needs the whole message in memory, so opening a
// data set would read all its images.)
namespace winnow::datasets {

// Returns `count` bytes (at most 64) at `offset` of the data; valid until the next call.
using Look = std::function<BytesView(std::uint64_t offset, std::size_t count)>;

// Makes a Look that reads from a file, a few KiB at a time. It throws SystemError. The file must
// outlive it.
Look look_into(const InputFile& file);
Look look_into(BytesView bytes);

struct WireRange {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
};

struct WireField {
  std::uint64_t number = 0;
  bool is_range = false;    // whether it is a range of bytes: text, bytes, message, packed numbers
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
  bool varint(std::uint64_t& value);  // reads one of several packed numbers; false at the end, too
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
