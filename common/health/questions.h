#pragma once

#include <optional>
#include <span>
#include <vector>

#include "common/health/diagnosis.h"

namespace winnow::health {

// Whether other machines are alive, found by querying their kernels, independently of the processes
// there.
//
// Time  `at`: seconds that this process has been running. `now`: clock time in seconds.
class Questions {
 public:
  Questions(int me, const std::vector<Member>& members);

  // Record that a message came from a rank; that its machine has answered a query; that its machine
  // was queried.
  void heard(int rank) noexcept;
  void answered(int rank, double at) noexcept;
  void asked(int rank, double now) noexcept;

  // Counts queries that had time for an answer but got none. Call it once a second, after all
  // received messages were processed.
  void count_unanswered(double now) noexcept;

  // Which machines this rank should query now, each given by one of its ranks: those of which no
  // rank is heard, and those that were not yet seen to answer. Only one rank of each machine
  // queries, because kernels answer another machine once a second.
  std::vector<int> to_ask(std::span<const Seen> seen, const std::vector<Member>& members) const;

  // When the machine of a rank last answered; negative: never.
  double answered_at(int rank) const noexcept { return machine_of(rank).answered_at; }
  // See Seen::unanswered.
  int unanswered(int rank) const noexcept { return machine_of(rank).unanswered; }

 private:
  struct Machine {
    double answered_at = -1;
    std::optional<double> asked_at{};  // clock time of a query that is not answered yet
    int unanswered = 0;                // consecutive queries
  };

  const Machine& machine_of(int rank) const noexcept;
  Machine& machine_of(int rank) noexcept;

  int me_;
  std::vector<std::size_t> machine_of_;  // by rank
  std::vector<Machine> machines_;
  int beats_ = 0;
};

}  // namespace winnow::health
