#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "common/comm/communicator.h"
#include "train/backend/backend.h"
#include "train/plan/execution.h"

namespace winnow::train {

// Exchanges batch norm statistics between all micro-batches of a step (train/reduce/exchange.h),
// for synchronised batch norm.
// Bits    Equal on every rank, and for any number of ranks and lanes (program replicas).
// Memory  Owns the exchanged values, except those that are also gradient outputs and bound by the
//         caller.
class Exchanger {
 public:
  // programs  One for each lane (program replica). If statistics are exchanged, each computes a
  //           single micro-batch in a step.
  // summed    For each lane, the memory to which it writes the tensors of execution.gradients;
  //           bound by the caller.
  // Lifetime  All arguments must outlive this object.
  Exchanger(const std::vector<std::unique_ptr<Program>>& programs, const Execution& execution,
            const std::vector<std::span<float>>& summed, comm::Communicator& comm);

  // Performs exchange number `exchange` of a step: waits for the programs, then for all ranks. Each
  // program continues with the statistics of all micro-batches.
  // Ranks  All start their all-reduces in the same order, including those of exchanges.
  void run(std::size_t exchange);

  // Seconds of waiting for other ranks in all exchanges so far.
  double waited_seconds() const noexcept { return waited_s_; }

 private:
  struct Lane {
    Program& program;
    // For each exchange of statistics, the values of this lane (program replica).
    std::vector<std::vector<std::span<float>>> parts{};
  };

  const Execution& execution_;
  comm::Communicator& comm_;
  // Memory of exchanged statistics that the caller does not bind.
  std::vector<std::vector<float>> own_;
  std::vector<Lane> lanes_;
  std::vector<float> each_;  // statistics of each micro-batch of the step, of all ranks
  std::vector<float> all_;
  double waited_s_ = 0;
};

}  // namespace winnow::train
