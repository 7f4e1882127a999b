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

// A training whose step on one machine is known, for tables of more machines. One rank a machine.
struct ScaledRun {
  const train::Graph* graph = nullptr;  // of training, of one micro-batch
  train::Sums sums = train::Sums::kFloats;
  std::size_t bucket_bytes = 0;  // 0: what leaves the least to wait for
  train::StepSeconds step{};     // measured on one machine, of the form `form`
  train::StepForm form{};
  int most_lanes = 1;               // that its cores would have
  std::vector<double> node_ends{};  // seconds of one micro-batch, in lanes as busy as in `step`
  std::int64_t batch = 1;           // of all machines
  double steps_per_epoch = 1;
  PlanTime time{};                     // on one machine
  double data_bytes = 0;               // of an image; 0: every machine has all of them
  int replicas = 1;                    // of the data, among all machines
  std::optional<double> hour_price{};  // of a machine
  double wished_efficiency = 0.8;
};

// The table of machines. Pure; takes some seconds where there are hundreds of them.
//
// Computing      in proportion to the rounds that each machine's lanes have left
// All-reduces    by the clock, with the fastest schedules and the bucket size that leaves the least
//                to wait for, behind backward as exposed_seconds() has it
// Data           records of other machines come behind computing, as far as the network carries
// them Knee           the most machines of which the last ones add half of what they would alone
PlanScaling scale(const ScaledRun& run, const std::vector<int>& hosts,
                  const comm::NetworkModel& network, const std::string& source);

}  // namespace winnow::app
