#include "train/run/step_plan.h"

#include <nlohmann/json.hpp>

namespace winnow::train {
namespace {

const char* kind_name(Task::Kind kind) {
  switch (kind) {
    case Task::Kind::kLoadParameters:
      return "load_parameters";
    case Task::Kind::kBind:
      return "bind";
    case Task::Kind::kCompute:
      return "compute";
    case Task::Kind::kAccumulate:
      return "accumulate";
    case Task::Kind::kTail:
      return "tail";
    case Task::Kind::kReduce:
      return "reduce";
    case Task::Kind::kUpdate:
      return "update";
  }
  return "?";
}

}  // namespace

StepPlan plan_step(const GradientLayout& layout, std::size_t node_count, int micro_batches) {
  StepPlan plan;
  const auto add = [&](Task task) {
    plan.tasks.push_back(std::move(task));
    return static_cast<int>(plan.tasks.size()) - 1;
  };
  const int buckets = static_cast<int>(layout.buckets.size());
  const bool accumulate = micro_batches > 1;
  std::vector<int> summed(layout.buckets.size(), -1);  // last task that wrote each bucket's sum
  std::vector<int> reduced(layout.buckets.size(), -1);

  int previous = add({.kind = Task::Kind::kLoadParameters});
  for (int m = 0; m < micro_batches; ++m) {
    const bool last = m + 1 == micro_batches;
    // The next micro-batch overwrites what the last one computed: it follows all its additions.
    std::vector<int> before{previous};
    for (const int task : summed) {
      if (task >= 0) before.push_back(task);
    }
    previous = add({.kind = Task::Kind::kBind, .micro_batch = m, .after = before});
    std::size_t done = 0;
    for (int b = 0; b < buckets; ++b) {
      const auto i = static_cast<std::size_t>(b);
      const std::size_t end = b + 1 == buckets ? node_count : layout.buckets[i].ready_after;
      if (end > done) {
        previous = add({.kind = Task::Kind::kCompute,
                        .micro_batch = m,
                        .first_node = done,
                        .last_node = end,
                        .after = {previous}});
        done = end;
      }
      int written = previous;
      if (accumulate) {
        std::vector<int> after{previous};
        if (summed[i] >= 0) after.push_back(summed[i]);
        written =
            add({.kind = Task::Kind::kAccumulate, .micro_batch = m, .bucket = b, .after = after});
        summed[i] = written;
      }
      if (!last) continue;
      if (b + 1 == buckets) {
        written = add({.kind = Task::Kind::kTail, .bucket = b, .after = {written}});
      }
      reduced[i] = add({.kind = Task::Kind::kReduce, .bucket = b, .after = {written}});
    }
  }
  for (int b = 0; b < buckets; ++b) {
    // Parameters may change only when no micro-batch reads them any more.
    add({.kind = Task::Kind::kUpdate,
         .bucket = b,
         .after = {reduced[static_cast<std::size_t>(b)], previous}});
  }
  return plan;
}

std::string to_json(const StepPlan& plan) {
  nlohmann::ordered_json tasks = nlohmann::ordered_json::array();
  for (const Task& task : plan.tasks) {
    nlohmann::ordered_json row{{"task", kind_name(task.kind)}};
    if (task.micro_batch >= 0) row["micro_batch"] = task.micro_batch;
    if (task.bucket >= 0) row["bucket"] = task.bucket;
    if (task.last_node > 0) row["nodes"] = {task.first_node, task.last_node};
    row["after"] = task.after;
    tasks.push_back(std::move(row));
  }
  return tasks.dump();
}

}  // namespace winnow::train
