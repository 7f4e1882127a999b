#include "common/comm/exchange.h"

#include <cstring>
#include <functional>
#include <string>
#include <string_view>

#include "common/comm/schedule/all_to_all.h"
#include "common/error.h"

namespace winnow::comm {

namespace {

constexpr std::size_t kElementBytes = 4;

// Checks that `offsets` are ascending and belong to `ranks` parts of a buffer.
void check_offsets(std::string_view which, int ranks, std::span<const std::size_t> offsets,
                   std::size_t bytes) {
  const std::string what = "an all-to-all of " + std::to_string(ranks) + " ranks was given ";
  if (offsets.size() != static_cast<std::size_t>(ranks) + 1) {
    throw Error(what + std::to_string(offsets.size()) + " offsets of the data that " +
                std::string(which) + "; it needs one more than there are ranks");
  }
  std::size_t last = 0;
  for (const std::size_t offset : offsets) {
    if (offset < last || offset > bytes || offset % kElementBytes != 0) {
      throw Error(what + "the offset " + std::to_string(offset) + " of the data that " +
                  std::string(which) + ", after the offset " + std::to_string(last) +
                  " in a buffer of " + std::to_string(bytes) +
                  " bytes; offsets must ascend and be multiples of 4");
    }
    last = offset;
  }
}

std::vector<std::size_t> in_elements(std::span<const std::size_t> bytes) {
  std::vector<std::size_t> out;
  for (const std::size_t offset : bytes) out.push_back(offset / kElementBytes);
  return out;
}

}  // namespace

void check_exchange(int ranks, const Exchange& exchange) {
  check_offsets("goes out", ranks, exchange.out_offsets, exchange.out.size());
  check_offsets("comes in", ranks, exchange.in_offsets, exchange.in.size());
  const std::less<const std::byte*> before;  // compares unrelated pointers
  if (before(exchange.out.data(), exchange.in.data() + exchange.in.size()) &&
      before(exchange.in.data(), exchange.out.data() + exchange.out.size())) {
    throw Error("the two buffers of an all-to-all overlap");
  }
}

std::vector<Transfer> plan_exchange(int rank, int ranks, const Exchange& exchange,
                                    const ScheduleOptions& options) {
  check_exchange(ranks, exchange);
  const std::vector<std::size_t> out_offsets = in_elements(exchange.out_offsets);
  const std::vector<std::size_t> in_offsets = in_elements(exchange.in_offsets);
  return all_to_all(rank, {out_offsets, in_offsets}, options);
}

void copy_part_kept(int rank, const Exchange& exchange) {
  const auto me = static_cast<std::size_t>(rank);
  const std::size_t bytes = exchange.out_offsets[me + 1] - exchange.out_offsets[me];
  if (bytes == 0) return;  // there may be no buffer
  std::memcpy(exchange.in.data() + exchange.in_offsets[me],
              exchange.out.data() + exchange.out_offsets[me], bytes);
}

}  // namespace winnow::comm
