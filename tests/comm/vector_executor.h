#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <tuple>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// Every rank's steps for one all-reduce.
inline std::vector<std::vector<Step>> steps_of_all(const Schedule& schedule, int ranks,
                                                   std::size_t count,
                                                   const ScheduleOptions& options) {
  std::vector<std::vector<Step>> out;
  for (int rank = 0; rank < ranks; ++rank) {
    out.push_back(schedule.all_reduce(rank, ranks, count, options));
  }
  return out;
}

// Carries out all ranks' steps on vectors of one process, ranks in turn, sends buffered; false when
// no rank can go on. buffers[rank] is rank's buffer.
inline bool execute_on_vectors(const std::vector<std::vector<Step>>& steps_of_rank,
                               std::vector<std::vector<float>>& buffers) {
  const int ranks = static_cast<int>(steps_of_rank.size());
  std::map<std::tuple<int, int, int>, std::deque<std::vector<float>>> mail;
  std::vector<std::size_t> next(steps_of_rank.size());
  std::vector<bool> sent(steps_of_rank.size());  // the sends of the current round
  bool progress = true;
  while (progress) {
    progress = false;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto me = static_cast<std::size_t>(rank);
      const std::vector<Step>& steps = steps_of_rank[me];
      if (next[me] == steps.size()) continue;
      std::size_t end = next[me];
      while (end < steps.size() && steps[end].chain == steps[next[me]].chain &&
             steps[end].round == steps[next[me]].round) {
        ++end;
      }
      std::map<std::tuple<int, int, int>, std::size_t> needed;
      for (std::size_t i = next[me]; i < end; ++i) {
        const Step& step = steps[i];
        if (step.kind != Step::Kind::kSend) {
          ++needed[{step.peer, rank, step.chain}];
        } else if (!sent[me]) {
          const auto from = buffers[me].begin() + static_cast<std::ptrdiff_t>(step.begin);
          mail[{rank, step.peer, step.chain}].emplace_back(
              from, from + static_cast<std::ptrdiff_t>(step.count));
          progress = true;
        }
      }
      sent[me] = true;
      bool all_here = true;
      for (const auto& [route, messages] : needed) all_here &= mail[route].size() >= messages;
      if (!all_here) continue;
      for (std::size_t i = next[me]; i < end; ++i) {
        const Step& step = steps[i];
        if (step.kind == Step::Kind::kSend) continue;
        auto& box = mail[{step.peer, rank, step.chain}];
        for (std::size_t e = 0; e < step.count; ++e) {
          float& here = buffers[me][step.begin + e];
          here = step.kind == Step::Kind::kReceiveAdd ? here + box.front()[e] : box.front()[e];
        }
        box.pop_front();
      }
      next[me] = end;
      sent[me] = false;
      progress = true;
    }
  }
  for (std::size_t rank = 0; rank < next.size(); ++rank) {
    if (next[rank] != steps_of_rank[rank].size()) return false;
  }
  return true;
}

}  // namespace winnow::comm
