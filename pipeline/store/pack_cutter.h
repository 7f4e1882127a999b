#pragma once

#include <cstddef>
#include <cstdint>

namespace winnow::pipeline {

// The rules of docs/formats/shard.md that divide a sequence of records into packs, and packs into
// transactions. They depend on sizes only, never on time or threads.
inline constexpr std::size_t kPackRecords = 64;
// Most payload bytes of a pack; a larger record gets its own pack.
inline constexpr std::uint64_t kPackBytes = 256u << 10;
// Most bytes of packs in a transaction.
inline constexpr std::uint64_t kTransactionBytes = 4u << 20;

class PackCutter {
 public:
  // Whether a pack ends before a record with this payload, so that the record begins the next pack.
  bool ends_before(std::uint64_t payload_bytes) noexcept {
    const bool ends =
        records_ > 0 && (records_ == kPackRecords || bytes_ + payload_bytes > kPackBytes);
    if (ends) *this = {};
    ++records_;
    bytes_ += payload_bytes;
    return ends;
  }

 private:
  std::size_t records_ = 0;  // number of records in the current pack
  std::uint64_t bytes_ = 0;  // payload bytes in the current pack
};

}  // namespace winnow::pipeline
