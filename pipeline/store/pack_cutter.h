#pragma once

#include <cstddef>
#include <cstdint>

namespace winnow::pipeline {

// The rules of docs/formats/shard.md by which records, taken one after another, become packs and
// packs transactions: by their sizes alone, never by time or threads.
inline constexpr std::size_t kPackRecords = 64;
inline constexpr std::uint64_t kPackBytes = 256u << 10;       // of payloads; one larger is alone
inline constexpr std::uint64_t kTransactionBytes = 4u << 20;  // of packs

class PackCutter {
 public:
  // Whether a pack ends before a record with that payload, which then begins the next.
  bool ends_before(std::uint64_t payload_bytes) noexcept {
    const bool ends =
        records_ > 0 && (records_ == kPackRecords || bytes_ + payload_bytes > kPackBytes);
    if (ends) *this = {};
    ++records_;
    bytes_ += payload_bytes;
    return ends;
  }

 private:
  std::size_t records_ = 0;  // of the pack that is open
  std::uint64_t bytes_ = 0;
};

}  // namespace winnow::pipeline
