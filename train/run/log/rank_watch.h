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

// Counts what this rank does in its steps, and tells it to all ranks at each line of metrics.
class RankWatch {
 public:
  explicit RankWatch(comm::Communicator& comm) : comm_(comm) {}

  // Before the first step. Collective: the ranks tell each other where they are.
  // `of_step`: what computing a step once sends and brings
  // `card`: that this rank computes on, see open_thermometer(); none: on the CPU
  void begin(const Traffic& of_step, std::optional<int> card);

  // A step was taken. `seconds`: all that the executor took for it.
  void count(const StepResult& step, double seconds);

  // The figures of all ranks since this was called before, on every rank. One small collective of
  // whole numbers.
  RankTable gather(const pipeline::Loader& loader);

 private:
  // Counters that only grow, of this rank.
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
  Thermometer thermometer_;    // empty: of a CPU
  std::int64_t computed_ = 0;  // steps, repeated ones again
  double compute_s_ = 0;
  double exposed_s_ = 0;
  Totals before_;
};

}  // namespace winnow::train
