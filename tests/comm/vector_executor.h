#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <tuple>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// All ranks on one machine.
inline Placement one_machine(int rank, int ranks) {
  return {rank, std::vector<int>(static_cast<std::size_t>(std::max(ranks, 0)))};
}

// Every rank's transfers for one all-reduce.
inline std::vector<std::vector<Transfer>> transfers_of_all(const Schedule& schedule, int ranks,
                                                           std::size_t count,
                                                           const ScheduleOptions& options) {
  std::vector<std::vector<Transfer>> out;
  for (int rank = 0; rank < ranks; ++rank) {
    out.push_back(schedule.all_reduce(one_machine(rank, ranks), count, options));
  }
  return out;
}

// Carries out all ranks' transfers on vectors of one process, ranks in turn, sends buffered; false
// when no rank can go on. buffers[rank] is rank's buffer.
inline bool execute_on_vectors(const std::vector<std::vector<Transfer>>& transfers_of_rank,
                               std::vector<std::vector<float>>& buffers) {
  const int ranks = static_cast<int>(transfers_of_rank.size());
  std::map<std::tuple<int, int, int>, std::deque<std::vector<float>>> mail;
  std::vector<std::size_t> next(transfers_of_rank.size());
  std::vector<bool> sent(transfers_of_rank.size());  // the sends of the current round
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
      std::map<std::tuple<int, int, int>, std::size_t> needed;
      for (std::size_t i = next[me]; i < end; ++i) {
        const Transfer& transfer = transfers[i];
        if (transfer.kind != Transfer::Kind::kSend) {
          ++needed[{transfer.peer, rank, transfer.chain}];
        } else if (!sent[me]) {
          const auto from = buffers[me].begin() + static_cast<std::ptrdiff_t>(transfer.begin);
          mail[{rank, transfer.peer, transfer.chain}].emplace_back(
              from, from + static_cast<std::ptrdiff_t>(transfer.count));
          progress = true;
        }
      }
      sent[me] = true;
      bool all_here = true;
      for (const auto& [route, messages] : needed) all_here &= mail[route].size() >= messages;
      if (!all_here) continue;
      for (std::size_t i = next[me]; i < end; ++i) {
        const Transfer& transfer = transfers[i];
        if (transfer.kind == Transfer::Kind::kSend) continue;
        auto& box = mail[{transfer.peer, rank, transfer.chain}];
        for (std::size_t e = 0; e < transfer.count; ++e) {
          float& here = buffers[me][transfer.begin + e];
          here =
              transfer.kind == Transfer::Kind::kReceiveAdd ? here + box.front()[e] : box.front()[e];
        }
        box.pop_front();
      }
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

}  // namespace winnow::comm
