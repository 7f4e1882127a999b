#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// A rank's placement when all ranks are on one machine.
inline Placement one_machine(int rank, int ranks) {
  return {rank, std::vector<int>(static_cast<std::size_t>(std::max(ranks, 0)))};
}

// The transfers of every rank for one all-reduce.
inline std::vector<std::vector<Transfer>> transfers_of_all(const Schedule& schedule, int ranks,
                                                           std::size_t count,
                                                           const ScheduleOptions& options) {
  std::vector<std::vector<Transfer>> out;
  for (int rank = 0; rank < ranks; ++rank) {
    out.push_back(schedule.all_reduce(one_machine(rank, ranks), count, options));
  }
  return out;
}

// Executes the transfers of all ranks in one process. Ranks take turns, and sends are buffered.
// Returns    false if no rank can continue.
// `move` operates on the ranks' buffers:
//
//   std::vector<std::byte> send(rank, transfer)    returns the message of a send
//   void receive(rank, transfer, message)          adds or copies a message that arrived
//   void end_round(rank, transfers)                called when one chain's round is complete
template <class Move>
bool execute_in_process(const std::vector<std::vector<Transfer>>& transfers_of_rank, Move&& move) {
  const int ranks = static_cast<int>(transfers_of_rank.size());
  std::map<std::tuple<int, int, int>, std::deque<std::vector<std::byte>>> mail;
  std::vector<std::size_t> next(transfers_of_rank.size());
  std::vector<bool> sent(transfers_of_rank.size());  // whether the current round's sends are done
  bool progress = true;
  while (progress) {
    progress = false;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto me = static_cast<std::size_t>(rank);
      const std::vector<Transfer>& transfers = transfers_of_rank[me];
      if (next[me] == transfers.size()) continue;
      std::size_t end = next[me];
      while (end < transfers.size() && transfers[end].chain == transfers[next[me]].chain &&
             transfers[end].round == transfers[next[me]].round) {
        ++end;
      }
      const std::span round(transfers.data() + next[me], end - next[me]);
      std::map<std::tuple<int, int, int>, std::size_t> needed;
      for (const Transfer& transfer : round) {
        if (transfer.kind != Transfer::Kind::kSend) {
          ++needed[{transfer.peer, rank, transfer.chain}];
        } else if (!sent[me]) {
          mail[{rank, transfer.peer, transfer.chain}].push_back(move.send(rank, transfer));
          progress = true;
        }
      }
      sent[me] = true;
      bool all_here = true;
      for (const auto& [route, messages] : needed) all_here &= mail[route].size() >= messages;
      if (!all_here) continue;
      for (const Transfer& transfer : round) {
        if (transfer.kind == Transfer::Kind::kSend) continue;
        auto& box = mail[{transfer.peer, rank, transfer.chain}];
        move.receive(rank, transfer, box.front());
        box.pop_front();
      }
      move.end_round(rank, round);
      next[me] = end;
      sent[me] = false;
      progress = true;
    }
  }
  for (std::size_t rank = 0; rank < next.size(); ++rank) {
    if (next[rank] != transfers_of_rank[rank].size()) return false;
  }
  return true;
}

// Executes on floats; buffers[rank] is the buffer of `rank`.
inline bool execute_on_vectors(const std::vector<std::vector<Transfer>>& transfers_of_rank,
                               std::vector<std::vector<float>>& buffers) {
  struct Move {
    std::vector<std::vector<float>>& buffers;

    float* range(int rank, const Transfer& transfer) const {
      return buffers[static_cast<std::size_t>(rank)].data() + transfer.begin;
    }
    std::vector<std::byte> send(int rank, const Transfer& transfer) const {
      const auto bytes = std::as_bytes(std::span(range(rank, transfer), transfer.count));
      return {bytes.begin(), bytes.end()};
    }
    void receive(int rank, const Transfer& transfer, const std::vector<std::byte>& message) const {
      float* const into = range(rank, transfer);
      for (std::size_t e = 0; e < transfer.count; ++e) {
        float value = 0;
        std::memcpy(&value, message.data() + e * sizeof(float), sizeof(float));
        into[e] = transfer.kind == Transfer::Kind::kReceiveAdd ? into[e] + value : value;
      }
    }
    void end_round(int, std::span<const Transfer>) const {}
  };
  return execute_in_process(transfers_of_rank, Move{buffers});
}

}  // namespace winnow::comm
