#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/bytes.h"

namespace winnow {

// Hashes and checksums of bytes by xxHash. Only this part of winnow uses libxxhash.

// A 128-bit content hash, XXH3-128, in its canonical (big-endian) byte order, as `xxh128sum` prints
// it.
struct Hash128 {
  std::array<std::uint8_t, 16> bytes{};

  friend bool operator==(const Hash128&, const Hash128&) = default;
  friend auto operator<=>(const Hash128&, const Hash128&) = default;
};

std::uint64_t xxh3_64(BytesView bytes) noexcept;
Hash128 xxh3_128(BytesView bytes) noexcept;

std::string to_hex(const Hash128& hash);      // 32 lowercase digits
std::string to_hex(std::uint64_t value);      // 16 lowercase digits
Hash128 parse_hash128(std::string_view hex);  // throws FormatError

// Incremental XXH3-128 and XXH3-64.
class Xxh3Stream {
 public:
  Xxh3Stream();
  ~Xxh3Stream();
  Xxh3Stream(const Xxh3Stream&) = delete;
  Xxh3Stream& operator=(const Xxh3Stream&) = delete;

  void update(BytesView bytes) noexcept;
  Hash128 digest() const noexcept;  // hash of all bytes so far; more may be added afterwards
  std::uint64_t digest_64() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow
