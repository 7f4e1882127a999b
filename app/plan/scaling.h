#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "app/plan/report.h"
#include "common/comm/schedule/clock.h"
#include "train/graph/graph.h"
#include "train/plan/run_plan.h"
#include "train/plan/step_seconds.h"

namespace winnow::app {

// A training with a known step on one machine, for tables of more machines. One rank per machine.
struct ScaledRun {
  const train::Graph* graph = nullptr;  // training graph of one micro-batch
  train::Sums sums = train::Sums::kFloats;
  std::size_t bucket_bytes = 0;  // 0: the size with the shortest wait
  train::StepSeconds step{};     // measured on one machine, with the form `form`
  train::StepForm form{};
  int most_lanes = 1;  // lanes that its cores could have
  double cores = 1;    // cores of a machine, or what a quota leaves of them
  int threads = 1;     // computing threads of a machine
  // when each node of a micro-batch ends, in seconds, in lanes as busy as in `step`
  std::vector<double> node_ends{};
  std::int64_t batch = 1;  // over all machines
  double steps_per_epoch = 1;
  PlanTime time{};                     // on one machine
  double data_bytes = 0;               // bytes per image; 0: every machine has all data
  int replicas = 1;                    // copies of the data, over all machines
  std::optional<double> hour_price{};  // price of a machine
  double wished_efficiency = 0.8;
};

// The table of machines. Pure; takes some seconds for hundreds of machines.
//
// Computing    proportional to the rounds that are left to each machine's lanes
// All-reduces  simulated with the fastest schedules and the bucket size with the shortest wait,
//              overlapped with backward as in exposed_seconds(); messages behind it take processor
//              time from computing, unless cores are left for them
// Data         records of other machines arrive during computing, as far as the network allows
// Knee         the most machines of which the last ones still add half of what they would alone
PlanScaling scale(const ScaledRun& run, const std::vector<int>& hosts,
                  const comm::NetworkModel& network, const std::string& source);

}  // namespace winnow::app
