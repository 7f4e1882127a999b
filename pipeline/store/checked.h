#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/bytes.h"

namespace winnow::pipeline {

// Remembers which parts of some bytes matched their checksums. The bytes must not change, like
// those of a file in memory. Parts below 512 bytes are not remembered, because checking them is
// cheap. Needs one bit of memory per 512 bytes. Thread-safe.
class CheckedBytes {
 public:
  explicit CheckedBytes(BytesView all)
      : all_(all), words_((all.size() / kSlotBytes + kWordBits) / kWordBits) {}

  // Whether `part` of the bytes was remembered. Parts must not overlap.
  bool has(BytesView part) const noexcept {
    return is_long(part) && (word(part).load(std::memory_order_relaxed) & bit(part)) != 0;
  }
  void remember(BytesView part) noexcept {
    if (is_long(part)) word(part).fetch_or(bit(part), std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t kSlotBytes = 512;
  static constexpr std::size_t kWordBits = 64;

  // Whether a part is long enough to be remembered: no two such parts begin in one slot of 512
  // bytes.
  static bool is_long(BytesView part) noexcept { return part.size() >= kSlotBytes; }
  std::size_t slot(BytesView part) const noexcept {
    return static_cast<std::size_t>(part.data() - all_.data()) / kSlotBytes;
  }
  std::uint64_t bit(BytesView part) const noexcept {
    return std::uint64_t{1} << (slot(part) % kWordBits);
  }
  const std::atomic<std::uint64_t>& word(BytesView part) const noexcept {
    return words_[slot(part) / kWordBits];
  }
  std::atomic<std::uint64_t>& word(BytesView part) noexcept {
    return words_[slot(part) / kWordBits];
  }

  BytesView all_;
  std::vector<std::atomic<std::uint64_t>> words_;
};

}  // namespace winnow::pipeline
