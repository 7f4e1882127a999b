#include "common/comm/schedule/all_to_all.h"

#include <algorithm>
#include <limits>
#include <string>

#include "common/comm/schedule/arguments.h"
#include "common/error.h"

namespace winnow::comm {

namespace {

struct Range {
  std::size_t begin;
  std::size_t end;
};

Range part(std::span<const std::size_t> offsets, int rank) {
  const auto at = static_cast<std::size_t>(rank);
  return {offsets[at], offsets[at + 1]};
}

void check_offsets(const ExchangeParts& parts) {
  if (parts.out_offsets.empty() || parts.out_offsets.size() != parts.in_offsets.size()) {
    throw Error("an all-to-all was given " + std::to_string(parts.out_offsets.size()) +
                " offsets of sent data and " + std::to_string(parts.in_offsets.size()) +
                " of received data; it needs one more of each than there are ranks");
  }
  if (!std::ranges::is_sorted(parts.out_offsets) || !std::ranges::is_sorted(parts.in_offsets)) {
    throw Error("the offsets of an all-to-all's parts must ascend");
  }
}

void check_part_kept(int rank, const ExchangeParts& parts) {
  const Range kept = part(parts.out_offsets, rank);
  const Range place = part(parts.in_offsets, rank);
  if (kept.end - kept.begin != place.end - place.begin) {
    throw Error("rank " + std::to_string(rank) + " keeps " + std::to_string(kept.end - kept.begin) +
                " elements of an all-to-all, but has room for " +
                std::to_string(place.end - place.begin));
  }
}

}  // namespace

std::vector<Transfer> all_to_all(int rank, const ExchangeParts& parts,
                                 const ScheduleOptions& options) {
  check_offsets(parts);
  const int ranks = parts.ranks();
  check_arguments(rank, ranks, options);
  check_part_kept(rank, parts);
  const std::size_t segment = std::min(options.segment_elements, kMostSegmentElements);
  const int stride = std::numeric_limits<int>::max() / std::max(ranks - 1, 1);

  std::vector<Transfer> transfers;
  for (int shift = 1; shift < ranks; ++shift) {
    const int to = (rank + shift) % ranks;
    const int from = (rank + ranks - shift) % ranks;
    Range out = part(parts.out_offsets, to);
    Range in = part(parts.in_offsets, from);
    const std::size_t messages =
        divide_up(std::max(out.end - out.begin, in.end - in.begin), segment);
    if (messages > static_cast<std::size_t>(stride)) {
      throw UsageError("an all-to-all would cut a part into " + std::to_string(messages) +
                       " segments; choose a larger segment size");
    }
    int chain = (shift - 1) * stride;
    const auto take = [&](Transfer::Kind kind, int peer, Range& left) {
      const std::size_t count = std::min(segment, left.end - left.begin);
      if (count == 0) return;
      transfers.push_back({kind, peer, chain, 0, left.begin, count});
      left.begin += count;
    };
    for (std::size_t i = 0; i < messages; ++i, ++chain) {
      take(Transfer::Kind::kReceiveCopy, from, in);
      take(Transfer::Kind::kSend, to, out);
    }
  }
  return transfers;
}

}  // namespace winnow::comm
