#include "datasets/wire.h"

#include <algorithm>

namespace winnow::datasets {
namespace {

constexpr std::size_t kWindowBytes = 4096;

struct Window {
  Bytes bytes;
  std::uint64_t begin = 0;
};

}  // namespace

Look look_into(const InputFile& file) {
  return [&file, window = std::make_shared<Window>()](std::uint64_t offset, std::size_t count) {
    Window& w = *window;
    if (offset < w.begin || offset + count > w.begin + w.bytes.size()) {
      const std::uint64_t left = file.size() > offset ? file.size() - offset : 0;
      w.bytes.resize(
          std::max(count, static_cast<std::size_t>(std::min<std::uint64_t>(kWindowBytes, left))));
      w.begin = offset;
      file.read_at(offset, w.bytes);
    }
    return BytesView(w.bytes).subspan(offset - w.begin, count);
  };
}

Look look_into(BytesView bytes) {
  return [bytes](std::uint64_t offset, std::size_t count) { return bytes.subspan(offset, count); };
}

bool WireReader::varint(std::uint64_t& value) {
  if (bad_ || at_ == end_) return false;
  constexpr std::size_t kMostBytes = 10;
  const BytesView bytes =
      look_(at_, static_cast<std::size_t>(std::min<std::uint64_t>(kMostBytes, end_ - at_)));
  value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<std::uint64_t>(bytes[i]);
    if (i == kMostBytes - 1 && byte > 1) return fail();
    value |= (byte & 0x7F) << (7 * i);
    if ((byte & 0x80) == 0) {
      at_ += i + 1;
      return true;
    }
  }
  return fail();
}

bool WireReader::fixed(std::size_t bytes, std::uint64_t& value) {
  if (end_ - at_ < bytes) return fail();
  value = 0;
  std::memcpy(&value, look_(at_, bytes).data(), bytes);
  at_ += bytes;
  return true;
}

bool WireReader::next(WireField& field) {
  std::uint64_t tag = 0;
  if (!varint(tag)) return false;
  field = {};
  field.number = tag >> 3;
  if (field.number == 0) return fail();
  switch (tag & 7) {
    case 0:
      return varint(field.value) || fail();
    case 1:
      return fixed(8, field.value);
    case 5:
      return fixed(4, field.value);
    case 2: {
      std::uint64_t size = 0;
      if (!varint(size) || size > end_ - at_) return fail();
      field.is_range = true;
      field.range = {at_, size};
      at_ += size;
      return true;
    }
    default:  // groups, which are obsolete
      return fail();
  }
}

}  // namespace winnow::datasets
