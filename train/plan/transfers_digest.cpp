#include <span>

#include "common/checksum.h"
#include "train/plan/execution.h"

namespace winnow::train {

std::uint64_t digest_of_transfers(const SumTransfers& transfers) {
  std::vector<std::uint64_t> numbers;
  const auto append = [&](const std::vector<comm::Transfer>& some) {
    numbers.push_back(some.size());
    for (const comm::Transfer& t : some) {
      for (const auto number :
           {static_cast<std::uint64_t>(t.kind), static_cast<std::uint64_t>(t.peer),
            static_cast<std::uint64_t>(t.chain), static_cast<std::uint64_t>(t.round),
            static_cast<std::uint64_t>(t.begin), static_cast<std::uint64_t>(t.count)}) {
        numbers.push_back(number);
      }
    }
  };
  for (std::size_t b = 0; b < transfers.buckets.size(); ++b) {
    if (!transfers.parts.contains(b)) append(transfers.buckets[b]);
  }
  for (const auto& [bucket, parts] : transfers.parts) {
    append(parts.between);
    numbers.insert(numbers.end(), parts.shares.begin(), parts.shares.end());
  }
  append(transfers.exponents);
  if (!transfers.tail.empty()) append(transfers.tail);  // plans without a tail keep their digests
  for (const auto& exchange : transfers.exchanges) append(exchange);
  return xxh3_64(std::as_bytes(std::span(numbers)));
}

}  // namespace winnow::train
