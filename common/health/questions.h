#pragma once

#include <optional>
#include <span>
#include <vector>

#include "common/health/diagnosis.h"

namespace winnow::health {

// What a rank knows of other machines by asking their kernels, whatever the processes there do.
//
// Time  `at`: that this process ran; `now`: of the clock
class Questions {
 public:
  Questions(int me, const std::vector<Member>& members);

  // Something came from a rank; its machine has answered; it was asked.
  void heard(int rank) noexcept;
  void answered(int rank, double at) noexcept;
  void asked(int rank, double now) noexcept;

  // Once a second, when all that came was heard: which questions had time for an answer.
  void count_unanswered(double now) noexcept;

  // Ranks whose machines are to be asked: one of each, where nobody is heard, or to know whether it
  // answers at all. By one rank of each machine: kernels answer another machine once a second.
  std::vector<int> to_ask(std::span<const Seen> seen, const std::vector<Member>& members) const;

  // When the machine of a rank answered last; below 0: never.
  double answered_at(int rank) const noexcept { return machine_of(rank).answered_at; }
  // As Seen has it.
  int unanswered(int rank) const noexcept { return machine_of(rank).unanswered; }

 private:
  struct Machine {
    double answered_at = -1;
    std::optional<double> asked_at{};  // an answer is awaited
    int unanswered = 0;                // questions in a row
  };

  const Machine& machine_of(int rank) const noexcept;
  Machine& machine_of(int rank) noexcept;

  int me_;
  std::vector<std::size_t> machine_of_;  // of each rank
  std::vector<Machine> machines_;
  int beats_ = 0;
};

}  // namespace winnow::health
