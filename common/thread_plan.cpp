#include "common/thread_plan.h"

#include <algorithm>
#include <cmath>
#include <thread>
#include <vector>

#include "common/cores.h"

namespace winnow {
namespace {

constexpr int kCoresToSpareOne = 8;

}  // namespace

ThreadPlan plan_threads(const ThreadPlanInputs& inputs) {
  double cores = std::max(1, inputs.affinity_cores);
  const int local_ranks = std::max(1, inputs.local_ranks);
  const double share = inputs.own_cores > 0 ? inputs.own_cores : cores / local_ranks;
  cores = inputs.quota_cores > 0 ? std::min(share, inputs.quota_cores / local_ranks) : share;
  constexpr double kRounding = 1e-9;  // rounding error of shares that sum to whole cores
  const int all = static_cast<int>(std::floor(cores + kRounding));
  const int whole = std::max(1, inputs.requested > 0 ? inputs.requested : all);
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
  const std::vector<int> cores = cores_of(0);
  inputs.affinity_cores = cores.empty()
                              ? static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))
                              : static_cast<int>(cores.size());
  inputs.own_cores = share_of_cores(static_cast<std::size_t>(inputs.affinity_cores),
                                    launcher_cores().size(), local_ranks);
  inputs.quota_cores = quota_cores();
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
