#include "common/tfrecord_frame.h"

#include <cstring>
#include <span>
#include <utility>

#include "common/crc32c.h"

namespace winnow {
namespace {

std::uint32_t masked_crc(BytesView bytes) {
  Crc32c crc;
  crc.update(bytes);
  return crc.masked();
}

}  // namespace

std::optional<std::uint64_t> tfrecord_length(BytesView header) {
  std::uint64_t length = 0;
  std::uint32_t stored = 0;
  std::memcpy(&length, header.data(), sizeof(length));
  std::memcpy(&stored, header.data() + sizeof(length), sizeof(stored));
  if (masked_crc(header.first(sizeof(length))) != stored) return std::nullopt;
  return length;
}

Bytes tfrecord_of(BytesView data) {
  const std::uint64_t length = data.size();
  ByteWriter out;
  out.put(length);
  out.put(masked_crc(std::as_bytes(std::span(&length, 1))));
  out.put_bytes(data);
  out.put(masked_crc(data));
  return std::move(out).take();
}

}  // namespace winnow
