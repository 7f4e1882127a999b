#include "common/crc32c.h"

#include <array>

namespace winnow {
namespace {

// Row k: the effect of a byte on the sum after k more bytes, for processing eight bytes at a time.
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82F63B78U : 0);
    tables[0][i] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t i = 0; i < 256; ++i) {
      const std::uint32_t before = tables[k - 1][i];
      tables[k][i] = before >> 8 ^ tables[0][before & 255];
    }
  }
  return tables;
}
constexpr Tables kTables = make_tables();

}  // namespace

void Crc32c::update(BytesView bytes) noexcept {
  std::uint32_t crc = state_;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    word ^= crc;
    crc = 0;
    for (std::size_t i = 0; i < 8; ++i) crc ^= kTables[7 - i][word >> (8 * i) & 255];
  }
  for (const std::byte byte : bytes) {
    crc = crc >> 8 ^ kTables[0][(crc ^ static_cast<std::uint32_t>(byte)) & 255];
  }
  state_ = crc;
}

}  // namespace winnow
