#include "train/plan/step_plan.h"

namespace winnow::train {

std::string_view kind_name(Task::Kind kind) noexcept {
  switch (kind) {
    case Task::Kind::kLoadParameters:
      return "load_parameters";
    case Task::Kind::kBind:
      return "bind";
    case Task::Kind::kCompute:
      return "compute";
    case Task::Kind::kAdd:
      return "add";
    case Task::Kind::kReduce:
      return "reduce";
    case Task::Kind::kFinish:
      return "finish";
    case Task::Kind::kUpdate:
      return "update";
  }
  return "?";
}

StepPlan plan_step(const GradientLayout& layout, std::size_t node_count,
                   std::span<const int> micro_batches, bool asynchronous) {
  StepPlan plan{.lanes = static_cast<int>(micro_batches.size())};
  const auto add = [&](Task task) {
    plan.tasks.push_back(std::move(task));
    return static_cast<int>(plan.tasks.size()) - 1;
  };
  const std::size_t buckets = layout.buckets.size();
  std::vector<std::vector<int>> added(buckets);  // the last additions to each bucket, by lane

  int micro_batch = 0;
  for (int lane = 0; lane < plan.lanes; ++lane) {
    int previous = add({.kind = Task::Kind::kLoadParameters, .lane = lane});
    for (int m = 0; m < micro_batches[static_cast<std::size_t>(lane)]; ++m, ++micro_batch) {
      const bool last = m + 1 == micro_batches[static_cast<std::size_t>(lane)];
      // What a lane does depends on what it did before: each task overwrites the ones' before it.
      const auto next = [&](Task task) {
        task.lane = lane;
        task.micro_batch = micro_batch;
        task.after = {previous};
        previous = add(std::move(task));
      };
      const auto add_bucket = [&](std::size_t b) {
        next({.kind = Task::Kind::kAdd, .bucket = static_cast<int>(b)});
        if (last) added[b].push_back(previous);
      };
      next({.kind = Task::Kind::kBind});
      std::size_t done = 0;
      for (std::size_t b = 0; b < buckets; ++b) {
        const std::size_t end = b + 1 == buckets ? node_count : layout.buckets[b].ready_after;
        if (end > done) next({.kind = Task::Kind::kCompute, .first_node = done, .last_node = end});
        done = std::max(done, end);
        if (!asynchronous) add_bucket(b);
      }
      for (std::size_t b = 0; asynchronous && b < buckets; ++b) add_bucket(b);
    }
  }
  // Reductions must start in the same order on all ranks.
  std::vector<int> reduced;
  for (std::size_t b = 0; b < buckets; ++b) {
    std::vector<int> after = added[b];
    if (!reduced.empty()) after.push_back(reduced.back());
    reduced.push_back(
        add({.kind = Task::Kind::kReduce, .bucket = static_cast<int>(b), .after = after}));
  }
  // All lanes are done when the last bucket is reduced, so that parameters may change.
  const int finish = add({.kind = Task::Kind::kFinish, .after = {reduced.back()}});
  for (std::size_t b = 0; b < buckets; ++b) {
    add({.kind = Task::Kind::kUpdate, .bucket = static_cast<int>(b), .after = {finish}});
  }
  return plan;
}

}  // namespace winnow::train
