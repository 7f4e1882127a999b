#include "pipeline/load/exchange_plan.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "common/error.h"

namespace winnow::pipeline {
namespace {

// A record that is not on the machine of the rank that loads it.
struct Move {
  int from = 0;
  int to = 0;
  Parcel parcel;
};

std::vector<Move> moves_of(std::uint64_t batch, const std::vector<std::vector<Request>>& requests,
                           const Holders& holders, const RecordSizes& sizes) {
  std::vector<Move> moves;
  for (int rank = 0; rank < holders.ranks(); ++rank) {
    const std::vector<Request>& of_rank = requests[static_cast<std::size_t>(rank)];
    for (std::size_t row = 0; row < of_rank.size(); ++row) {
      const Request& request = of_rank[row];
      if (request.weight == 0) continue;
      const int holder = holders.holder(request.id, rank);
      if (holder == rank) continue;
      moves.push_back({.from = holder,
                       .to = rank,
                       .parcel = {.batch = batch,
                                  .row = static_cast<std::uint32_t>(row),
                                  .request = request,
                                  .bytes = sizes[request.id]}});
    }
  }
  return moves;
}

// Puts the parcels in the order of their ranks, each after the one before it.
std::vector<Parcel> lay_out(std::vector<std::pair<int, Parcel>> parcels, int ranks,
                            std::vector<std::size_t>& offsets) {
  std::ranges::stable_sort(parcels, {}, &std::pair<int, Parcel>::first);
  offsets.assign(static_cast<std::size_t>(ranks) + 1, 0);
  std::vector<Parcel> out;
  out.reserve(parcels.size());
  std::size_t at = 0;
  for (auto& [rank, parcel] : parcels) {
    parcel.begin = at;
    at += parcel.bytes;
    offsets[static_cast<std::size_t>(rank) + 1] = at;
    out.push_back(parcel);
  }
  for (std::size_t r = 1; r < offsets.size(); ++r) {
    offsets[r] = std::max(offsets[r], offsets[r - 1]);
  }
  return out;
}

}  // namespace

Holders::Holders(std::span<const ShardInfo> shards, std::vector<int> nodes,
                 const std::vector<std::vector<std::uint32_t>>& held,
                 const std::vector<Partitions>& partitions)
    : nodes_(std::move(nodes)),
      ranks_(held.size()),
      partitions_(partitions.empty() ? 0 : partitions.front().of),
      holding_nodes_(partitions.empty() ? shards.size() : static_cast<std::size_t>(partitions_)) {
  for (const ShardInfo& shard : shards) last_ids_.push_back(shard.last_id);
  for (std::size_t rank = 0; rank < nodes_.size(); ++rank) {
    ranks_.at(static_cast<std::size_t>(nodes_[rank])).push_back(static_cast<int>(rank));
  }
  for (std::size_t node = 0; node < held.size(); ++node) {
    if (ranks_[node].empty()) continue;  // nobody there could give anything
    std::vector<std::uint32_t> has = held[node];
    if (partitions_ > 0) {
      has.resize(static_cast<std::size_t>(partitions.at(node).end - partitions[node].begin));
      std::iota(has.begin(), has.end(), static_cast<std::uint32_t>(partitions[node].begin));
    }
    for (const std::uint32_t number : has) {
      holding_nodes_.at(number).push_back(static_cast<int>(node));
    }
    all_have_all_ = all_have_all_ && has.size() == holding_nodes_.size();
  }
  for (std::size_t i = 0; i < holding_nodes_.size(); ++i) {
    if (!holding_nodes_[i].empty()) continue;
    throw Error((partitions_ > 0 ? "partition " + std::to_string(i) : shards[i].file) +
                " is on none of the machines of this job");
  }
}

int Holders::holder(SampleId id, int rank) const {
  const auto shard = static_cast<std::size_t>(
      std::lower_bound(last_ids_.begin(), last_ids_.end(), id) - last_ids_.begin());
  if (shard == last_ids_.size()) throw Error("no shard has sample " + std::to_string(id));
  const int node = nodes_[static_cast<std::size_t>(rank)];
  const std::vector<int>& holding =
      holding_nodes_[partitions_ > 0 ? static_cast<std::size_t>(partition_of(id, partitions_))
                                     : shard];
  if (std::ranges::binary_search(holding, node)) return rank;
  const auto number = static_cast<std::size_t>(node);
  const std::vector<int>& givers =
      ranks_[static_cast<std::size_t>(holding[number % holding.size()])];
  // Ranks of one machine ask different ranks of another, and each asks all of them.
  const std::vector<int>& asking = ranks_[number];
  const auto place =
      static_cast<std::size_t>(std::ranges::lower_bound(asking, rank) - asking.begin());
  return givers[(place + shard) % givers.size()];
}

std::vector<std::uint32_t> Holders::share_of(int rank) const {
  const int node = nodes_[static_cast<std::size_t>(rank)];
  const std::vector<int>& ranks = ranks_[static_cast<std::size_t>(node)];
  std::vector<std::uint32_t> share;
  const auto holds = [&](const std::vector<int>& nodes) {
    return std::ranges::binary_search(nodes, node);
  };
  if (std::ranges::none_of(holding_nodes_, holds)) return share;
  std::size_t turn = 0;
  for (std::size_t shard = 0; shard < last_ids_.size(); ++shard) {
    if (partitions_ == 0 && !holds(holding_nodes_[shard])) continue;
    if (ranks[turn++ % ranks.size()] == rank) share.push_back(static_cast<std::uint32_t>(shard));
  }
  return share;
}

std::size_t RecordSizes::operator[](SampleId id) const {
  const auto found = std::ranges::lower_bound(ids, id);
  if (found == ids.end() || *found != id) {
    throw Error("there is no sample " + std::to_string(id) + " in the cache");
  }
  return static_cast<std::size_t>(bytes[static_cast<std::size_t>(found - ids.begin())]);
}

Segment plan_segment(int rank, std::uint64_t first, const SegmentLimits& limits,
                     const RequestsOf& requests_of, const Holders& holders,
                     const RecordSizes& sizes) {
  Segment segment{.first = first, .end = first};
  std::vector<std::size_t> load(static_cast<std::size_t>(holders.ranks()), 0);
  std::vector<std::pair<int, Parcel>> sent;
  std::vector<std::pair<int, Parcel>> received;
  while (segment.end - first < std::max<std::uint64_t>(1, limits.batches)) {
    std::vector<std::vector<Request>> requests;
    for (int r = 0; r < holders.ranks(); ++r) requests.push_back(requests_of(r, segment.end));
    std::vector<Request>& mine = requests[static_cast<std::size_t>(rank)];
    if (mine.empty()) break;  // and everybody's
    const std::vector<Move> moves = moves_of(segment.end, requests, holders, sizes);
    std::vector<std::size_t> more = load;
    for (const Move& move : moves) {
      more[static_cast<std::size_t>(move.from)] += move.parcel.bytes;
      more[static_cast<std::size_t>(move.to)] += move.parcel.bytes;
    }
    if (segment.end > first && *std::ranges::max_element(more) > limits.bytes) break;
    load = std::move(more);
    for (const Move& move : moves) {
      if (move.from == rank) sent.emplace_back(move.to, move.parcel);
      if (move.to == rank) received.emplace_back(move.from, move.parcel);
    }
    segment.requests.push_back(std::move(mine));
    ++segment.end;
  }
  segment.sent = lay_out(std::move(sent), holders.ranks(), segment.sent_offsets);
  segment.received = lay_out(std::move(received), holders.ranks(), segment.received_offsets);
  return segment;
}

}  // namespace winnow::pipeline
