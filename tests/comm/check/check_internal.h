#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/comm/schedule/schedule.h"
#include "common/error.h"

// Common parts of the checks of all collectives: the order of lists, and matching and moving
// messages.
//
// The contents of messages are a type of each check, `Buffers`, with these members:
//
//   meet       (const Transfer& a, const Transfer& b): two transfers of one round conflict
//   mismatch   (int sender, int receiver, const Transfer& send, const Transfer& receive)
//   deliver    the same arguments
//   end_round  (int rank): all messages of the rank's round have been delivered
//
// All except the first return "" or the sentence to report.
namespace winnow::comm {

using TransferLists = std::vector<std::vector<Transfer>>;

inline constexpr std::size_t kMaxRanks = 4096;

inline std::string range_text(std::size_t begin, std::size_t count) {
  return "elements [" + std::to_string(begin) + ", " + std::to_string(begin + count) + ")";
}

inline std::string place_text(const Transfer& transfer) {
  return "chain " + std::to_string(transfer.chain) + ", round " + std::to_string(transfer.round);
}

inline bool overlap(const Transfer& a, const Transfer& b) {
  return a.begin < b.begin + b.count && b.begin < a.begin + a.count;
}

// Checks a rank's list on its own: order, peers and ranges. `out` and `in` are the sizes of the
// buffers that it sends from and receives into.
inline std::string check_list(int rank, std::span<const Transfer> transfers, int ranks,
                              std::size_t out, std::size_t in) {
  const std::string who = "rank " + std::to_string(rank);
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const Transfer& transfer = transfers[i];
    if (transfer.peer < 0 || transfer.peer >= ranks || transfer.peer == rank) {
      return who + " names the peer " + std::to_string(transfer.peer) + " in " +
             place_text(transfer);
    }
    const std::size_t count = transfer.kind == Transfer::Kind::kSend ? out : in;
    if (transfer.begin > count || transfer.count > count - transfer.begin) {
      return who + " touches " + range_text(transfer.begin, transfer.count) + " of " +
             std::to_string(count) + " in " + place_text(transfer);
    }
    if (i > 0 && std::tie(transfers[i - 1].chain, transfers[i - 1].round) >
                     std::tie(transfer.chain, transfer.round)) {
      return who + " lists " + place_text(transfer) + " after " + place_text(transfers[i - 1]);
    }
  }
  return "";
}

// Runs one chain on all ranks. A message moves only when its sender and receiver have both reached
// its round. A schedule that works like this works with any amount of buffering.
template <class Buffers>
class ChainRun {
 public:
  ChainRun(std::vector<std::span<const Transfer>> transfers_of_rank, Buffers& buffers)
      : buffers_(buffers), parties_(transfers_of_rank.size()) {
    for (std::size_t rank = 0; rank < parties_.size(); ++rank) {
      parties_[rank].transfers = transfers_of_rank[rank];
      parties_[rank].partner.resize(transfers_of_rank[rank].size());
      parties_[rank].moved.resize(transfers_of_rank[rank].size());
    }
  }

  std::string run() {
    if (std::string fault = match_messages(); !fault.empty()) return fault;
    for (std::size_t rank = 0; rank < parties_.size(); ++rank) entering_.push_back(rank);
    while (!entering_.empty()) {
      const std::size_t rank = entering_.back();
      entering_.pop_back();
      if (std::string fault = enter_round(rank); !fault.empty()) return fault;
    }
    return check_finished();
  }

 private:
  struct Party {
    std::span<const Transfer> transfers;
    std::vector<std::size_t> partner;  // for each transfer, the index of the peer's transfer
    std::vector<bool> moved;           // for each transfer
    std::size_t begin = 0;             // the current round is transfers [begin, end)
    std::size_t end = 0;
    std::size_t waiting = 0;  // number of messages of the current round
  };
  struct Message {
    int sender;
    int receiver;
    std::size_t index;  // place in the list of the rank that has the transfer
  };

  // Pairs the i-th send with the i-th receive, for each sender and receiver.
  std::string match_messages() {
    std::vector<Message> sent;
    std::vector<Message> received;
    for (std::size_t rank = 0; rank < parties_.size(); ++rank) {
      const int me = static_cast<int>(rank);
      for (std::size_t i = 0; i < parties_[rank].transfers.size(); ++i) {
        const Transfer& transfer = parties_[rank].transfers[i];
        if (transfer.kind == Transfer::Kind::kSend) {
          sent.push_back({me, transfer.peer, i});
        } else {
          received.push_back({transfer.peer, me, i});
        }
      }
    }
    const auto route = [](const Message& m) { return std::pair(m.sender, m.receiver); };
    std::ranges::stable_sort(sent, {}, route);
    std::ranges::stable_sort(received, {}, route);
    for (std::size_t i = 0; i < std::max(sent.size(), received.size()); ++i) {
      const bool lost =
          i >= received.size() || (i < sent.size() && route(sent[i]) < route(received[i]));
      if (lost) {
        return "rank " + std::to_string(sent[i].sender) + " sends to rank " +
               std::to_string(sent[i].receiver) + " what is never received, in " +
               place_text(transfer_of(sent[i].sender, sent[i].index));
      }
      if (i >= sent.size() || route(sent[i]) != route(received[i])) {
        return "rank " + std::to_string(received[i].receiver) + " waits for rank " +
               std::to_string(received[i].sender) + ", which does not send, in " +
               place_text(transfer_of(received[i].receiver, received[i].index));
      }
      const auto [sender, receiver, send_index] = sent[i];
      const std::size_t receive_index = received[i].index;
      const Transfer& send = transfer_of(sender, send_index);
      const Transfer& receive = transfer_of(receiver, receive_index);
      std::string fault = buffers_.mismatch(sender, receiver, send, receive);
      if (!fault.empty()) return fault;
      party(sender).partner[send_index] = receive_index;
      party(receiver).partner[receive_index] = send_index;
    }
    return "";
  }

  // Begins the next round of `rank`, and moves every message whose other end is ready.
  std::string enter_round(std::size_t rank) {
    Party& me = parties_[rank];
    if (std::string fault = buffers_.end_round(static_cast<int>(rank)); !fault.empty()) {
      return fault;
    }
    me.begin = me.end;
    while (me.end < me.transfers.size() &&
           me.transfers[me.end].round == me.transfers[me.begin].round)
      ++me.end;
    me.waiting = me.end - me.begin;
    const auto round = me.transfers.subspan(me.begin, me.waiting);
    if (std::string fault = check_round(static_cast<int>(rank), round); !fault.empty()) {
      return fault;
    }
    for (std::size_t i = me.begin; i < me.end; ++i) {
      const int peer = me.transfers[i].peer;
      const std::size_t at = me.partner[i];
      Party& other = party(peer);
      if (at < other.begin || at >= other.end) continue;
      const bool sending = me.transfers[i].kind == Transfer::Kind::kSend;
      const int sender = sending ? static_cast<int>(rank) : peer;
      const int receiver = sending ? peer : static_cast<int>(rank);
      const Transfer& send = sending ? me.transfers[i] : other.transfers[at];
      const Transfer& receive = sending ? other.transfers[at] : me.transfers[i];
      std::string fault = buffers_.deliver(sender, receiver, send, receive);
      if (!fault.empty()) return fault;
      me.moved[i] = other.moved[at] = true;
      if (--other.waiting == 0) entering_.push_back(static_cast<std::size_t>(peer));
      --me.waiting;
    }
    if (me.waiting == 0 && me.end > me.begin) entering_.push_back(rank);
    return "";
  }

  std::string check_round(int rank, std::span<const Transfer> round) const {
    for (std::size_t i = 0; i < round.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (buffers_.meet(round[i], round[j])) {
          return "rank " + std::to_string(rank) + " has two transfers of " + place_text(round[i]) +
                 " that meet in " + range_text(round[i].begin, round[i].count);
        }
      }
    }
    return "";
  }

  std::string check_finished() const {
    for (std::size_t rank = 0; rank < parties_.size(); ++rank) {
      const Party& me = parties_[rank];
      for (std::size_t i = 0; i < me.transfers.size(); ++i) {
        if (me.moved[i]) continue;
        return "rank " + std::to_string(rank) + " waits forever for rank " +
               std::to_string(me.transfers[i].peer) + " in " + place_text(me.transfers[i]) +
               ": the ranks wait for each other in a circle";
      }
    }
    return "";
  }

  Party& party(int rank) { return parties_[static_cast<std::size_t>(rank)]; }
  const Transfer& transfer_of(int rank, std::size_t index) { return party(rank).transfers[index]; }

  Buffers& buffers_;
  std::vector<Party> parties_;
  std::vector<std::size_t> entering_;  // ranks whose current round is done
};

// Runs the chains of all ranks one after another, in the order in which an executor starts them. If
// this works, any number of them can be in progress at once.
template <class Buffers>
std::string run_chains(const TransferLists& transfers_of_rank, Buffers& buffers) {
  const std::size_t ranks = transfers_of_rank.size();
  std::vector<std::size_t> done(ranks);  // transfers of each rank in chains that have run
  for (;;) {
    int chain = std::numeric_limits<int>::max();
    bool left = false;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (done[rank] == transfers_of_rank[rank].size()) continue;
      chain = std::min(chain, transfers_of_rank[rank][done[rank]].chain);
      left = true;
    }
    if (!left) return "";
    std::vector<std::span<const Transfer>> of_chain(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const std::span<const Transfer> rest = std::span(transfers_of_rank[rank]).subspan(done[rank]);
      const auto end =
          std::ranges::find_if(rest, [&](const Transfer& s) { return s.chain != chain; });
      of_chain[rank] = rest.first(static_cast<std::size_t>(end - rest.begin()));
      done[rank] += of_chain[rank].size();
    }
    std::string fault = ChainRun<Buffers>(std::move(of_chain), buffers).run();
    if (!fault.empty()) return fault;
  }
}

inline void require_checkable(std::size_t ranks) {
  if (ranks == 0 || ranks > kMaxRanks) {
    throw Error("the schedule checker takes 1 to 4096 ranks, not " + std::to_string(ranks));
  }
}

}  // namespace winnow::comm
