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

// What is asked for beside one machine as it is.
struct PlanScalingRequest {
  std::vector<int> hosts{};  // none: no table of machines
  std::string network{};     // a rate and a latency, or a file; empty: these ranks measure theirs
  double efficiency = 0.8;   // wished for
  double hour_price = 0;     // of a machine; 0: none
};

struct PlanRequest {
  train::TrainOptions train{};  // with a cache, or else `shape`
  std::optional<train::DataShape> shape{};
  bool any_micro_batch = false;  // --micro-batch auto
  bool measures = true;          // steps are taken; else memory alone is planned
  double seconds = 120;          // that measuring may take, about
  int replicas = 0;              // of the shards in memory, among machines; 0: each has all
  PlanScalingRequest scaling{};
  std::vector<std::filesystem::path> runs{};
  std::string target{};
  PlannedFlags given{};  // flags of winnow train that were given; those of the best row are added
};

// Plans a training: memory, time, machines, batch. Writes nothing. Collective.
//
// Memory    of every choice, computed; the kernels of each are chosen for it
// Time      of three micro-batches measured by the first steps of such a run, of others scaled
// Machines  by the measured step and the network's clock
// Throws    UsageError: nothing fits, not even one image; options that do not fit the data or each
//           other
PlanReport run_plan(const PlanRequest& request, Session& session);

}  // namespace winnow::app
