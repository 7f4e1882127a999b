#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/plan/plan_toml.h"
#include "app/plan/report.h"
#include "app/session.h"
#include "train/run/options.h"
#include "train/run/start/planned_job.h"

namespace winnow::app {

// Questions besides this machine as it is.
struct PlanScalingRequest {
  std::vector<int> hosts{};  // numbers of machines; empty: no table of machines
  std::string network{};     // a rate and a latency, or a file; empty: measured between these ranks
  double efficiency = 0.8;   // smallest acceptable efficiency
  double hour_price = 0;     // price of a machine; 0: none
};

struct PlanRequest {
  train::TrainOptions train{};  // with a cache, or else with `shape`
  std::optional<train::DataShape> shape{};
  bool any_micro_batch = false;   // --micro-batch auto
  bool measures = true;           // measure steps; else only memory is planned
  double seconds = 120;           // rough limit for measuring
  std::filesystem::path rates{};  // folder for measured times; empty: not kept
  bool measures_again = false;    // measures even if times are kept
  bool kernels = false;           // also measures the library's kernels, and chooses among them
  // copies of the shards in memory, over all machines; 0: every machine has all
  int replicas = 0;
  PlanScalingRequest scaling{};
  std::vector<std::filesystem::path> runs{};
  std::string target{};
  PlannedFlags given{};  // flags of winnow train that were given; those of the best row are added
};

// Plans a training: memory, time, machines, batch. Writes nothing but `rates`. Collective.
//
// Memory    computed for every choice, with the kernels chosen for it
// Time      measured for three micro-batches by the first steps of such a run; scaled for others
// Kernels   chosen for the best row, whose step is then measured with them
// Machines  from the measured step and a model of the network
// Throws    UsageError: not even one image fits; options that do not fit the data or each other
PlanReport run_plan(const PlanRequest& request, Session& session);

}  // namespace winnow::app
