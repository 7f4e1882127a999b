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

// Counts the work of this rank's steps, and shares it with all ranks at each line of metrics.
class RankWatch {
 public:
  explicit RankWatch(comm::Communicator& comm) : comm_(comm) {}

  // Call before the first step. Collective: the ranks exchange their host names.
  // of_step  What computing a step once sends and receives.
  // card     The GPU of this rank, see open_thermometer(); nullopt on the CPU.
  void begin(const Traffic& of_step, std::optional<int> card);

  // Call after each step. `seconds`: the executor's total time for it.
  void count(const StepResult& step, double seconds);

  // The figures of all ranks since the previous call, on every rank. One small collective of
  // integers.
  RankTable gather(const pipeline::Loader& loader);

 private:
  // Monotonic counters of this rank.
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
  std::int64_t computed_ = 0;  // steps, including repeated ones
  double compute_s_ = 0;
  double exposed_s_ = 0;
  Totals before_;
};

}  // namespace winnow::train
