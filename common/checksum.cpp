#include "common/checksum.h"

#include <xxhash.h>
// The same functions dispatched at run time: twice as fast with AVX2 or AVX-512.
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
#endif

#include <cstring>
#include <new>

namespace winnow {
namespace {

Hash128 canonical(XXH128_hash_t hash) noexcept {
  XXH128_canonical_t raw;
  XXH128_canonicalFromHash(&raw, hash);
  Hash128 out;
  static_assert(sizeof(raw.digest) == 16);
  std::memcpy(out.bytes.data(), raw.digest, out.bytes.size());
  return out;
}

template <class Range>
std::string hex_of(const Range& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t b : bytes) {
    text += kDigits[b >> 4];
    text += kDigits[b & 15];
  }
  return text;
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

struct FreeState {
  void operator()(XXH3_state_t* state) const noexcept { XXH3_freeState(state); }
};

}  // namespace

std::uint64_t xxh3_64(BytesView bytes) noexcept { return XXH3_64bits(bytes.data(), bytes.size()); }

Hash128 xxh3_128(BytesView bytes) noexcept {
  return canonical(XXH3_128bits(bytes.data(), bytes.size()));
}

std::string to_hex(const Hash128& hash) { return hex_of(hash.bytes); }

std::string to_hex(std::uint64_t value) {
  std::array<std::uint8_t, 8> bytes{};
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<std::uint8_t>(value >> (56 - 8 * i));
  return hex_of(bytes);
}

Hash128 parse_hash128(std::string_view hex) {
  Hash128 hash;
  bool good = hex.size() == 32;
  for (std::size_t i = 0; good && i < 16; ++i) {
    const int high = digit(hex[2 * i]);
    const int low = digit(hex[2 * i + 1]);
    good = high >= 0 && low >= 0;
    hash.bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  if (!good) throw FormatError("'" + std::string(hex) + "' is not a 128-bit hash of 32 hex digits");
  return hash;
}

struct Xxh3Stream::State {
  std::unique_ptr<XXH3_state_t, FreeState> raw{XXH3_createState()};
};

Xxh3Stream::Xxh3Stream() : state_(std::make_unique<State>()) {
  if (!state_->raw) throw std::bad_alloc();
  XXH3_128bits_reset(state_->raw.get());
}
Xxh3Stream::~Xxh3Stream() = default;

void Xxh3Stream::update(BytesView bytes) noexcept {
  XXH3_128bits_update(state_->raw.get(), bytes.data(), bytes.size());
}

Hash128 Xxh3Stream::digest() const noexcept {
  return canonical(XXH3_128bits_digest(state_->raw.get()));
}

// One state serves both lengths (xxhash.h).
std::uint64_t Xxh3Stream::digest_64() const noexcept {
  return XXH3_64bits_digest(state_->raw.get());
}

}  // namespace winnow
