#pragma once

#include <cstdint>

#include "common/bytes.h"

namespace winnow {

// CRC-32C (Castagnoli) of all bytes given to update, in order.
class Crc32c {
 public:
  void update(BytesView bytes) noexcept;
  std::uint32_t value() const noexcept { return ~state_; }
  // As TFRecord and LevelDB store it, so that a checksum over checksums stays good.
  std::uint32_t masked() const noexcept {
    const std::uint32_t crc = value();
    return (crc >> 15 | crc << 17) + 0xA282EAD8U;
  }

 private:
  std::uint32_t state_ = 0xFFFFFFFFU;
};

}  // namespace winnow
