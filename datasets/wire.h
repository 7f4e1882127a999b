#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "common/bytes.h"
#include "common/file.h"

// Google's Protocol Buffers on the wire, as far as readers of images need it: fields one after the
// other, without a schema. What is long is passed over, never held: protozero, which does the same
// in memory, wants the whole message there, and opening a set would read all its images.
namespace winnow::datasets {

// Gives `count` bytes at `offset`, valid until the next call. `count` is at most 64 here.
using Look = std::function<BytesView(std::uint64_t offset, std::size_t count)>;

// Looks into a file by reading a few KiB at a time; SystemError. The file must outlive it.
Look look_into(const InputFile& file);
Look look_into(BytesView bytes);

struct WireRange {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
};

struct WireField {
  std::uint64_t number = 0;
  bool is_range = false;    // strings, bytes, messages, packed numbers
  std::uint64_t value = 0;  // otherwise
  WireRange range;
};

// Goes through the fields of a message. After next() returned false, bad() tells whether the bytes
// were none: what overlaps the end, what cannot be a number or a field.
class WireReader {
 public:
  WireReader(const Look& look, WireRange message)
      : look_(look), at_(message.begin), end_(message.begin + message.size) {}

  bool next(WireField& field);
  bool varint(std::uint64_t& value);  // for packed numbers; false at the end, too
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
