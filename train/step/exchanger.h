#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "common/comm/communicator.h"
#include "train/backend/backend.h"
#include "train/plan/execution.h"

namespace winnow::train {

// Brings together what the micro-batches of a step share (train/reduce/exchange.h), over the lanes
// of a rank and over ranks. Equal bits on every rank, and for any number of ranks and lanes.
// Owns  the memory of what is shared, but for values that are outputs besides, bound elsewhere.
class Exchanger {
 public:
  // In  `programs`: one a lane, each with one micro-batch where there is anything to share
  //     `summed`: where each lane writes the tensors of execution.gradients; bound by the caller
  // `execution` and all others outlive this.
  Exchanger(const std::vector<std::unique_ptr<Program>>& programs, const Execution& execution,
            const std::vector<std::span<float>>& summed, comm::Communicator& comm);

  // Waits for the programs, then for all ranks. Each program goes on with what is so of all
  // micro-batches. Ranks begin their all-reduces in one order, these among them.
  void run(std::size_t exchange);

  double waited_seconds() const noexcept { return waited_s_; }  // for all ranks, so far

 private:
  struct Lane {
    Program& program;
    std::vector<std::vector<std::span<float>>> parts{};  // of each exchange
  };

  const Execution& execution_;
  comm::Communicator& comm_;
  std::vector<std::vector<float>> own_;  // memory that is bound nowhere else
  std::vector<Lane> lanes_;
  std::vector<float> each_;  // of all micro-batches of the step
  std::vector<float> all_;
  double waited_s_ = 0;
};

}  // namespace winnow::train
