#include "common/comm/network_probe.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <span>
#include <type_traits>
#include <vector>

#include "common/machine_load.h"

namespace winnow::comm {

namespace {

constexpr int kTurns = 5;  // the median is used
constexpr int kRounds = 50;
constexpr int kMessages = 64;
constexpr std::size_t kSmallElements = 1 << 10;
constexpr std::size_t kLargeElements = 1 << 15;
constexpr int kLongMessages = 2;
constexpr std::size_t kLongElements = 1 << 19;
constexpr std::size_t kSafeMessage = 1 << 19;  // bytes
constexpr double kLongTakesAtMost = 1.25;      // relative to a byte of shorter messages

double seconds_of(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median_of_turns(const auto& measure) {
  std::vector<double> seconds;
  for (int turn = 0; turn < kTurns; ++turn) seconds.push_back(measure());
  std::ranges::nth_element(seconds, seconds.begin() + kTurns / 2);
  return seconds[kTurns / 2];
}

// The ranks that a rank sends to and receives from; itself if none.
struct Neighbours {
  int to;
  int from;
};

Neighbours on_ring(const std::vector<int>& ring, int rank) {
  const auto found = std::ranges::find(ring, rank);
  if (found == ring.end()) return {rank, rank};
  const auto at = static_cast<std::size_t>(found - ring.begin());
  return {ring[(at + 1) % ring.size()], ring[(at + ring.size() - 1) % ring.size()]};
}

Neighbours inside(const Placement& placement) {
  const auto me = static_cast<std::size_t>(placement.rank);
  std::vector<int> ring;
  for (int rank = 0; rank < placement.ranks(); ++rank) {
    if (placement.node_of[static_cast<std::size_t>(rank)] == placement.node_of[me]) {
      ring.push_back(rank);
    }
  }
  return on_ring(ring, placement.rank);
}

Neighbours between(const Placement& placement) {
  std::map<int, int> lowest;
  for (int rank = 0; rank < placement.ranks(); ++rank) {
    lowest.emplace(placement.node_of[static_cast<std::size_t>(rank)], rank);
  }
  std::vector<int> ring;
  for (const auto& [machine, rank] : lowest) ring.push_back(rank);
  return on_ring(ring, placement.rank);
}

struct Messages {
  int chains;
  int rounds;
  std::size_t elements;
};

struct Spent {
  double seconds = 0;    // median of the turns
  double processor = 0;  // mean processor time of all threads of this process
};

// The mean over ranks with neighbours; 0 if there are none.
Spent spent_on_messages(Communicator& comm, const Neighbours& peers, const Messages& sent) {
  const bool takes_part = peers.to != comm.rank();
  const std::size_t count = sent.elements;
  std::vector<float> buffer(static_cast<std::size_t>(1 + sent.chains) * count);
  std::vector<Transfer> transfers;
  for (int chain = 0; takes_part && chain < sent.chains; ++chain) {
    const std::size_t into = static_cast<std::size_t>(1 + chain) * count;
    for (int round = 0; round < sent.rounds; ++round) {
      transfers.push_back({Transfer::Kind::kReceiveCopy, peers.from, chain, round, into, count});
      transfers.push_back({Transfer::Kind::kSend, peers.to, chain, round, /*begin=*/0, count});
    }
  }
  double processor = 0;
  const double seconds = median_of_turns([&] {
    comm.barrier();
    const double before = process_seconds();
    const double turn = seconds_of([&] { comm.start_all_reduce(buffer, transfers).wait(); });
    processor += (process_seconds() - before) / kTurns;
    return turn;
  });
  std::vector<double> sums{takes_part ? seconds : 0.0, takes_part ? processor : 0.0,
                           takes_part ? 1.0 : 0.0};
  comm.all_reduce(sums);
  if (sums[2] == 0) return {};
  return {sums[0] / sums[2], sums[1] / sums[2]};
}

LinkCost probe(Communicator& comm, const Neighbours& peers) {
  const double one = spent_on_messages(comm, peers, {1, kRounds, 1}).seconds / kRounds;
  const auto [small, small_processor] =
      spent_on_messages(comm, peers, {kMessages, 1, kSmallElements});
  const auto [large, large_processor] =
      spent_on_messages(comm, peers, {kMessages, 1, kLargeElements});
  constexpr double kMoreBytes = kMessages * (kLargeElements - kSmallElements) * sizeof(float);
  LinkCost cost;
  cost.seconds_per_byte = std::max(0.0, (large - small) / kMoreBytes);
  cost.processor_s_per_byte = std::max(0.0, (large_processor - small_processor) / kMoreBytes);
  const double bytes_s = kSmallElements * sizeof(float) * cost.seconds_per_byte;
  cost.message_s = std::clamp((small - one) / kMessages - bytes_s, 0.0, one);
  cost.latency_s = one - cost.message_s;
  return cost;
}

// With two cables, Open MPI sends a long message through one, and several shorter ones through
// both.
std::size_t longest_message(Communicator& comm, const Neighbours& peers, const LinkCost& link) {
  const double seconds = spent_on_messages(comm, peers, {kLongMessages, 1, kLongElements}).seconds;
  constexpr double kBytes = kLongMessages * kLongElements * sizeof(float);
  return seconds <= kLongTakesAtMost * kBytes * link.seconds_per_byte ? 0 : kSafeMessage;
}

// Measured on segments that fit into a cache, like received messages.
double add_seconds_per_byte() {
  std::vector<float> sums(kLargeElements), terms(kLargeElements, 1.0F);
  const double seconds = median_of_turns([&] {
    return seconds_of([&] {
      for (int i = 0; i < kMessages; ++i) {
        for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += terms[k];
      }
    });
  });
  return seconds / static_cast<double>(kMessages * kLargeElements * sizeof(float));
}

// Copies rank 0's result: MPI's own sums need not have the same bits everywhere.
NetworkModel broadcast(Communicator& comm, NetworkModel network) {
  static_assert(std::is_trivially_copyable_v<NetworkModel>);
  comm.broadcast(std::as_writable_bytes(std::span(&network, 1)), 0);
  return network;
}

}  // namespace

NetworkModel probe_network(Communicator& comm) {
  NetworkModel network;
  network.inside = probe(comm, inside(comm.placement()));
  network.between = probe(comm, between(comm.placement()));
  const auto is_measured = [](const LinkCost& link) { return link.latency_s + link.message_s > 0; };
  if (!is_measured(network.inside)) network.inside = network.between;
  if (is_measured(network.between)) {
    network.longest_message = longest_message(comm, between(comm.placement()), network.between);
  } else {
    network.between = network.inside;
  }
  std::vector<double> additions{add_seconds_per_byte()};
  comm.all_reduce(additions);
  network.add_seconds_per_byte = additions[0] / comm.size();
  return broadcast(comm, network);
}

}  // namespace winnow::comm
