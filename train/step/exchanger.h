#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "common/comm/communicator.h"
#include "train/backend/backend.h"
#include "train/plan/execution.h"

namespace winnow::train {

// Combines what the micro-batches of a step share (train/reduce/exchange.h), over the lanes of a
// rank and over ranks. Equal bits on every rank, and for any number of ranks and lanes.
// Owns the memory of shared values, except those that are also outputs and bound elsewhere.
class Exchanger {
 public:
  // programs  One for each lane; each has a single micro-batch if anything is shared.
  // summed    Where each lane writes the tensors of execution.gradients; bound by the caller.
  // All arguments must outlive this.
  Exchanger(const std::vector<std::unique_ptr<Program>>& programs, const Execution& execution,
            const std::vector<std::span<float>>& summed, comm::Communicator& comm);

  // Waits for the programs, then for all ranks. Each program continues with the statistics of all
  // micro-batches. Every rank starts its all-reduces in the same order, including these.
  void run(std::size_t exchange);

  double waited_seconds() const noexcept { return waited_s_; }  // for other ranks, so far

 private:
  struct Lane {
    Program& program;
    std::vector<std::vector<std::span<float>>> parts{};  // for each exchange
  };

  const Execution& execution_;
  comm::Communicator& comm_;
  std::vector<std::vector<float>> own_;  // memory of values that are bound nowhere else
  std::vector<Lane> lanes_;
  std::vector<float> each_;  // for all micro-batches of the step
  std::vector<float> all_;
  double waited_s_ = 0;
};

}  // namespace winnow::train
