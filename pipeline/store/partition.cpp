#include "pipeline/store/partition.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/checksum.h"

namespace winnow::pipeline {

int partition_of(SampleId id, int partitions) noexcept {
  std::array<std::byte, sizeof(id)> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(id >> (8 * i));
  }
  // The high half as a fraction of 2^32, times the number of partitions.
  const std::uint64_t hash = xxh3_64(bytes) >> 32;
  return static_cast<int>((hash * static_cast<std::uint64_t>(partitions)) >> 32);
}

bool Partitions::has(SampleId id) const noexcept {
  if (all()) return true;
  const int partition = partition_of(id, of);
  return begin <= partition && partition < end;
}

}  // namespace winnow::pipeline
