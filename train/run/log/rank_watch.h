#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/comm/communicator.h"
#include "pipeline/load/loader.h"
#include "train/run/log/rank_metrics.h"
#include "train/run/log/rank_temperature.h"
#include "train/run/log/rank_traffic.h"
#include "train/step/executor.h"

namespace winnow::train {

// Counts what this rank does in each step. At each line of metrics, shares the counts with all
// ranks.
class RankWatch {
 public:
  explicit RankWatch(comm::Communicator& comm) : comm_(comm) {}

  // Exchanges the host names of the ranks. Call it before the first step. Collective.
  // of_step  Bytes that computing one step sends and receives.
  // card     Index of this rank's GPU, see open_thermometer(); nullopt on the CPU.
  void begin(const Traffic& of_step, std::optional<int> card);

  // Counts one step. Call it after each step. `seconds`: the total time that the step took.
  void count(const StepResult& step, double seconds);

  // Returns the figures of all ranks since the previous call, on every rank. Collective: one small
  // exchange of integers.
  RankTable gather(const pipeline::Loader& loader);

 private:
  // Totals of this rank since its start; they only grow.
  struct Totals {
    double compute = 0;
    double data_wait = 0;
    double exposed = 0;
    double reduction = 0;
    double received = 0;
    double sent = 0;
  };
  Totals totals(const pipeline::Loader& loader) const;

  comm::Communicator& comm_;
  std::vector<std::string> hosts_;
  Traffic of_step_;
  Thermometer thermometer_;    // empty on the CPU
  std::int64_t computed_ = 0;  // number of steps computed, including repeats after an overflow
  double compute_s_ = 0;
  double exposed_s_ = 0;
  Totals before_;
};

}  // namespace winnow::train
