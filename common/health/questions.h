#pragma once

#include <optional>
#include <span>
#include <vector>

#include "common/health/diagnosis.h"

namespace winnow::health {

// Knowledge about other machines, gained by querying their kernels, independently of processes
// there.
//
// Time  `at`: running time of this process; `now`: clock time.
class Questions {
 public:
  Questions(int me, const std::vector<Member>& members);

  // Record that something came from a rank; that its machine has answered; that it was queried.
  void heard(int rank) noexcept;
  void answered(int rank, double at) noexcept;
  void asked(int rank, double now) noexcept;

  // Call it once a second, after all received messages were processed: counts queries that had time
  // for an answer.
  void count_unanswered(double now) noexcept;

  // Ranks whose machines to query: one of each machine, if no rank there is heard, or to learn
  // whether it answers at all. Only one rank of each machine asks, because kernels answer another
  // machine once a second.
  std::vector<int> to_ask(std::span<const Seen> seen, const std::vector<Member>& members) const;

  // When the machine of a rank last answered; negative: never.
  double answered_at(int rank) const noexcept { return machine_of(rank).answered_at; }
  // See Seen::unanswered.
  int unanswered(int rank) const noexcept { return machine_of(rank).unanswered; }

 private:
  struct Machine {
    double answered_at = -1;
    std::optional<double> asked_at{};  // time of a pending query
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
