#pragma once

#include <cstdint>

#include "common/bytes.h"

namespace winnow {

// Incremental CRC-32C (Castagnoli).
class Crc32c {
 public:
  void update(BytesView bytes) noexcept;
  std::uint32_t value() const noexcept { return ~state_; }
  // The CRC-32C in the masked form of TFRecord and LevelDB, which stays meaningful if the data
  // contain checksums themselves.
  std::uint32_t masked() const noexcept {
    const std::uint32_t crc = value();
    return (crc >> 15 | crc << 17) + 0xA282EAD8U;
  }

 private:
  std::uint32_t state_ = 0xFFFFFFFFU;
};

}  // namespace winnow
