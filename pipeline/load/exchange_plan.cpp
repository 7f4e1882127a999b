#include "pipeline/load/exchange_plan.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/error.h"

namespace winnow::pipeline {
namespace {

// A record that the loading rank's machine lacks.
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

// Places the parcels in the order of ranks, without gaps.
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

Holders::Holders(std::span<const ShardInfo> shards, const Placement& placement)
    : nodes_(placement.nodes),
      ranks_(placement.held.size()),
      held_(placement.held),
      parts_(placement.parts),
      last_id_(shards.empty() ? 0 : shards.back().last_id) {
  for (std::size_t rank = 0; rank < nodes_.size(); ++rank) {
    ranks_.at(static_cast<std::size_t>(nodes_[rank])).push_back(static_cast<int>(rank));
  }
  if (parts_) {
    check_parts();
    return;
  }
  find_partitions(placement.partitions);
}

void Holders::find_partitions(const std::vector<Partitions>& partitions) {
  nodes_of_partition_.resize(static_cast<std::size_t>(partitions.at(0).of));
  for (std::size_t node = 0; node < ranks_.size(); ++node) {
    if (ranks_[node].empty()) continue;  // no rank there can send
    const Partitions& has = partitions.at(node);
    for (int number = has.begin; number < has.end; ++number) {
      nodes_of_partition_[static_cast<std::size_t>(number)].push_back(static_cast<int>(node));
    }
    all_have_all_ = all_have_all_ && has.all();
  }
  for (std::size_t i = 0; i < nodes_of_partition_.size(); ++i) {
    if (!nodes_of_partition_[i].empty()) continue;
    throw Error("partition " + std::to_string(i) + " is not on any machine of this job");
  }
}

void Holders::check_parts() {
  std::vector<std::size_t> blocks_of(ranks_.size(), 0);
  for (std::size_t block = 0; block < parts_->blocks.size(); ++block) {
    const IdRun ids = parts_->blocks.ids(block);
    for (const std::uint32_t node : holders_of(*parts_, ids)) {
      ++blocks_of.at(node);
      if (!ranks_[node].empty()) continue;
      throw Error("records " + std::to_string(ids.first) + " to " + std::to_string(ids.last) +
                  " are on a machine without ranks of this job");
    }
  }
  all_have_all_ = std::ranges::all_of(
      blocks_of, [&](std::size_t count) { return count == parts_->blocks.size(); });
}

int Holders::node_for(SampleId id, int node) const {
  if (!parts_) {
    if (id > last_id_) throw Error("no shard has sample " + std::to_string(id));
    const int of = static_cast<int>(nodes_of_partition_.size());
    const auto& nodes = nodes_of_partition_[static_cast<std::size_t>(partition_of(id, of))];
    if (std::ranges::binary_search(nodes, node)) return node;
    return nodes[static_cast<std::size_t>(node) % nodes.size()];
  }
  const std::size_t block = parts_->blocks.block_of(id);
  if (block == parts_->blocks.size()) throw Error("no shard has sample " + std::to_string(id));
  const auto& copies = parts_->machine_of;
  for (const auto& machine_of : copies) {
    if (std::cmp_equal(machine_of[block], node)) return node;
  }
  return static_cast<int>(copies[static_cast<std::size_t>(node) % copies.size()][block]);
}

int Holders::holder(SampleId id, int rank) const {
  const int node = nodes_[static_cast<std::size_t>(rank)];
  const int from = node_for(id, node);
  if (from == node) return rank;
  // The ranks of one machine ask different ranks of another, and each asks all of them in turn.
  const std::vector<int>& givers = ranks_[static_cast<std::size_t>(from)];
  const std::vector<int>& asking = ranks_[static_cast<std::size_t>(node)];
  const auto place =
      static_cast<std::size_t>(std::ranges::lower_bound(asking, rank) - asking.begin());
  return givers[(place + id) % givers.size()];
}

std::vector<std::uint32_t> Holders::share_of(int rank) const {
  const auto node = static_cast<std::size_t>(nodes_[static_cast<std::size_t>(rank)]);
  const std::vector<int>& ranks = ranks_[node];
  std::vector<std::uint32_t> share;
  for (std::size_t turn = 0; turn < held_[node].size(); ++turn) {
    if (ranks[turn % ranks.size()] == rank) share.push_back(held_[node][turn]);
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
    if (mine.empty()) break;  // all ranks run out of batches at once
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
