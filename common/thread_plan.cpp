#include "common/thread_plan.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>

namespace winnow {
namespace {

// cgroup v2 "max 100000" or "150000 100000"; the v1 pair of files otherwise. 0: no quota.
double read_quota_cores() {
  std::ifstream v2("/sys/fs/cgroup/cpu.max");
  double quota = 0;
  double period = 0;
  if (v2 >> quota >> period && period > 0) return quota / period;
  std::ifstream v1_quota("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::ifstream v1_period("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (v1_quota >> quota && v1_period >> period && quota > 0 && period > 0) return quota / period;
  return 0;
}

constexpr int kCoresToSpareOne = 8;

}  // namespace

ThreadPlan plan_threads(const ThreadPlanInputs& inputs) {
  double cores = std::max(1, inputs.affinity_cores);
  const int local_ranks = std::max(1, inputs.local_ranks);
  const double share = inputs.bound ? cores : cores / local_ranks;
  cores = inputs.quota_cores > 0 ? std::min(share, inputs.quota_cores / local_ranks) : share;
  const int whole =
      std::max(1, inputs.requested > 0 ? inputs.requested : static_cast<int>(std::floor(cores)));
  ThreadPlan plan{.cores = whole, .compute = whole, .decode = whole};
  if (inputs.ranks <= 1) return plan;
  plan.communication = ThreadPlan::Communication::kShares;
  if (inputs.requested <= 0 && whole >= kCoresToSpareOne) {
    plan.communication = ThreadPlan::Communication::kOwnCore;
    plan.compute = whole - 1;
  }
  return plan;
}

ThreadPlanInputs detect_threads(int ranks, int local_ranks) {
  ThreadPlanInputs inputs;
  inputs.ranks = ranks;
  inputs.local_ranks = local_ranks;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) inputs.affinity_cores = CPU_COUNT(&set);
  inputs.bound = std::int64_t{inputs.affinity_cores} * local_ranks <= sysconf(_SC_NPROCESSORS_ONLN);
  inputs.quota_cores = read_quota_cores();
  return inputs;
}

std::string to_string(const ThreadPlan& plan) {
  std::string text = std::to_string(plan.cores) + (plan.cores == 1 ? " core: " : " cores: ") +
                     std::to_string(plan.compute) + " compute, " + std::to_string(plan.decode) +
                     " decode";
  switch (plan.communication) {
    case ThreadPlan::Communication::kNone:
      break;
    case ThreadPlan::Communication::kShares:
      text += ", communication shares";
      break;
    case ThreadPlan::Communication::kOwnCore:
      text += ", 1 communication";
      break;
  }
  return text;
}

}  // namespace winnow
