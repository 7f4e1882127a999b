#include "common/comm/schedule/clock.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include "common/error.h"

namespace winnow::comm {

namespace {

// A running chain of a rank: transfers [begin, end) of the rank's list are its current round.
struct Running {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t last = 0;     // one past the chain
  std::size_t waiting = 0;  // unfinished messages of the round
  std::size_t to_add = 0;   // elements
};

struct Event {
  enum class Kind : std::uint8_t { kArrives, kReceived, kSent, kRoundDone };
  double at;
  std::uint64_t order;  // order of simultaneous events, for reproducible results
  Kind kind;
  int rank;
  int chain;
  int peer = 0;           // kArrives: the sender
  std::size_t bytes = 0;  // kArrives

  bool operator>(const Event& other) const {
    return std::tie(at, order) > std::tie(other.at, other.order);
  }
};

class Clock {
 public:
  Clock(std::span<const std::vector<Transfer>> transfers, std::span<const int> node_of,
        std::size_t element_bytes, const NetworkModel& network)
      : transfers_(transfers),
        node_of_(node_of),
        element_bytes_(element_bytes),
        network_(network),
        port_(transfers.size()),
        next_(transfers.size()),
        running_(transfers.size()),
        adder_free_(transfers.size()),
        early_(transfers.size()) {
    std::map<int, int> on_machine;
    for (std::size_t rank = 0; rank < transfers.size(); ++rank) {
      port_[rank] = on_machine[node_of[rank]]++ % std::max(1, network.cards);
    }
  }

  double run() {
    for (int rank = 0; rank < static_cast<int>(transfers_.size()); ++rank) start_chains(rank, 0);
    double now = 0;
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      now = event.at;
      switch (event.kind) {
        case Event::Kind::kArrives:
          arrive(event);
          break;
        case Event::Kind::kReceived:
          receive(event);
          break;
        case Event::Kind::kSent:
          message_done(event.rank, event.chain, now);
          break;
        case Event::Kind::kRoundDone:
          next_round(event.rank, event.chain, now);
          break;
      }
    }
    for (std::size_t rank = 0; rank < transfers_.size(); ++rank) {
      if (running_[rank].empty() && next_[rank] == transfers_[rank].size()) continue;
      throw Error("by the simulated schedule, rank " + std::to_string(rank) +
                  " would wait forever; the schedule is wrong");
    }
    return now;
  }

 private:
  // A port that passes one message at a time: {machine or rank, card, whether between machines}.
  using Port = std::tuple<int, int, bool>;

  bool is_between(int a, int b) const { return node_of_[at(a)] != node_of_[at(b)]; }
  const LinkCost& cost(int a, int b) const {
    return is_between(a, b) ? network_.between : network_.inside;
  }
  Port port(int rank, int peer) const {
    return is_between(rank, peer) ? Port{node_of_[at(rank)], port_[at(rank)], true}
                                  : Port{rank, 0, false};
  }
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

  void add_event(Event event) {
    event.order = order_++;
    events_.push(event);
  }

  void start_chains(int rank, double now) {
    const std::vector<Transfer>& list = transfers_[at(rank)];
    std::size_t& next = next_[at(rank)];
    while (next < list.size() && running_[at(rank)].size() < kChainsAtOnce) {
      const int chain = list[next].chain;
      Running run{.begin = next, .end = next, .last = next};
      while (run.last < list.size() && list[run.last].chain == chain) ++run.last;
      next = run.last;
      running_[at(rank)].emplace(chain, run);
      start_round(rank, chain, now);
    }
  }

  void start_round(int rank, int chain, double now) {
    const std::vector<Transfer>& list = transfers_[at(rank)];
    Running& run = running_[at(rank)].at(chain);
    run.begin = run.end;
    while (run.end < run.last && list[run.end].round == list[run.begin].round) ++run.end;
    run.waiting = run.end - run.begin;
    run.to_add = 0;
    std::size_t here_already = 0;
    for (std::size_t i = run.begin; i < run.end; ++i) {
      const Transfer& transfer = list[i];
      if (transfer.kind == Transfer::Kind::kSend) {
        send(rank, transfer, now);
        continue;
      }
      if (transfer.kind == Transfer::Kind::kReceiveAdd) run.to_add += transfer.count;
      int& early = early_[at(rank)][{transfer.peer, chain}];
      if (early > 0) {
        --early;
        ++here_already;
      } else {
        --early;  // one more receive is waiting
      }
    }
    for (; here_already > 0; --here_already) message_done(rank, chain, now);
  }

  void send(int rank, const Transfer& transfer, double now) {
    const LinkCost& link = cost(rank, transfer.peer);
    const std::size_t bytes = transfer.count * element_bytes_;
    double& free = out_free_[port(rank, transfer.peer)];
    const double begin = std::max(now, free);
    free = begin + link.message_s + static_cast<double>(bytes) * link.seconds_per_byte;
    add_event({free, 0, Event::Kind::kSent, rank, transfer.chain});
    add_event({begin + link.latency_s, 0, Event::Kind::kArrives, transfer.peer, transfer.chain,
               rank, bytes});
  }

  // The first byte reaches the receiver's port.
  void arrive(const Event& event) {
    const LinkCost& link = cost(event.peer, event.rank);
    double& free = in_free_[port(event.rank, event.peer)];
    const double begin = std::max(event.at, free);
    free = begin + link.message_s + static_cast<double>(event.bytes) * link.seconds_per_byte;
    add_event({free, 0, Event::Kind::kReceived, event.rank, event.chain, event.peer});
  }

  void receive(const Event& event) {
    int& early = early_[at(event.rank)][{event.peer, event.chain}];
    if (early++ < 0) message_done(event.rank, event.chain, event.at);
  }

  void message_done(int rank, int chain, double now) {
    Running& run = running_[at(rank)].at(chain);
    if (--run.waiting > 0) return;
    double done = now;
    if (run.to_add > 0) {
      double& free = adder_free_[at(rank)];
      const auto bytes = static_cast<double>(run.to_add * element_bytes_);
      done = free = std::max(now, free) + bytes * network_.add_seconds_per_byte;
    }
    add_event({done, 0, Event::Kind::kRoundDone, rank, chain});
  }

  void next_round(int rank, int chain, double now) {
    const Running& run = running_[at(rank)].at(chain);
    if (run.end < run.last) return start_round(rank, chain, now);
    running_[at(rank)].erase(chain);
    start_chains(rank, now);
  }

  const std::span<const std::vector<Transfer>> transfers_;
  const std::span<const int> node_of_;
  const std::size_t element_bytes_;
  const NetworkModel& network_;
  std::vector<int> port_;                        // by rank: its card
  std::vector<std::size_t> next_;                // by rank: the first transfer of its next chain
  std::vector<std::map<int, Running>> running_;  // by rank, then by chain
  std::vector<double> adder_free_;               // by rank
  // By rank, then by peer and chain: number of messages that arrived before their receive; or,
  // negative, of waiting receives.
  std::vector<std::map<std::pair<int, int>, int>> early_;
  std::map<Port, double> out_free_;
  std::map<Port, double> in_free_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t order_ = 0;
};

}  // namespace

double predicted_seconds(std::span<const std::vector<Transfer>> transfers_of_rank,
                         std::span<const int> node_of, std::size_t element_bytes,
                         const NetworkModel& network) {
  if (node_of.size() != transfers_of_rank.size()) {
    throw Error("the simulation of a schedule got the transfers of " +
                std::to_string(transfers_of_rank.size()) + " ranks, but the machines of " +
                std::to_string(node_of.size()));
  }
  return Clock(transfers_of_rank, node_of, element_bytes, network).run();
}

}  // namespace winnow::comm
