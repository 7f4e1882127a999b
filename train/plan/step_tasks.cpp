#include "train/plan/step_tasks.h"

#include <algorithm>
#include <array>
#include <utility>

namespace winnow::train {
namespace {

using Kind = Task::Kind;

// Less is not worth another thread's waking up.
constexpr std::size_t kElementsOfAPart = 32'768;

// How many parts `count` elements are cut into for `threads` threads.
int parts_of(std::size_t count, int threads) {
  return std::clamp(static_cast<int>(std::min<std::size_t>(count / kElementsOfAPart, 1u << 16)), 1,
                    threads);
}

class StepPlanner {
 public:
  StepPlanner(const GradientLayout& layout, std::size_t node_count, const StepShape& shape)
      : layout_(layout), node_count_(node_count), shape_(shape), added_(layout.buckets.size()) {
    step_.lanes = static_cast<int>(shape.micro_batches.size());
    step_.threads = std::max(shape.threads, step_.lanes);
  }

  StepTasks plan() && {
    std::vector<int> loaded;
    for (int lane = 0; lane < step_.lanes; ++lane) {
      loaded.push_back(append({.kind = Kind::kLoadParameters,
                               .lane = lane,
                               .part = {.index = lane, .of = step_.lanes}}));
    }
    int micro_batch = 0;
    for (int lane = 0; lane < step_.lanes; ++lane) {
      before_ = loaded;
      const int count = shape_.micro_batches[static_cast<std::size_t>(lane)];
      for (int m = 0; m < count; ++m) plan_micro_batch(lane, micro_batch++, m + 1 == count);
    }
    plan_update(plan_reductions());
    return std::move(step_);
  }

 private:
  int append(Task task) {
    step_.tasks.push_back(std::move(task));
    return static_cast<int>(step_.tasks.size()) - 1;
  }

  // One task for each part, all after the same ones.
  std::vector<int> append_parts(const Task& task, int parts) {
    std::vector<int> made;
    for (int i = 0; i < parts; ++i) {
      Task one = task;
      one.part = {.index = i, .of = parts};
      made.push_back(append(std::move(one)));
    }
    return made;
  }

  // What a lane does follows what it did before: each task overwrites what those before it wrote.
  void plan_micro_batch(int lane, int micro_batch, bool last) {
    const auto next = [&](Task task) {
      task.lane = lane;
      task.micro_batch = micro_batch;
      task.after = before_;
      before_ = {append(std::move(task))};
    };
    const auto add_bucket = [&](std::size_t b) {
      next({.kind = Kind::kAwait, .bucket = static_cast<int>(b)});
      const int helpers = step_.threads - step_.lanes + 1;
      const int parts = parts_of(layout_.buckets[b].count, helpers);
      before_ = append_parts({.kind = Kind::kAdd,
                              .lane = lane,
                              .anywhere = parts > 1,
                              .micro_batch = micro_batch,
                              .bucket = static_cast<int>(b),
                              .after = before_},
                             parts);
      if (last) added_[b].insert(added_[b].end(), before_.begin(), before_.end());
    };
    next({.kind = Kind::kBind});
    const std::size_t buckets = layout_.buckets.size();
    std::size_t done = 0;
    for (std::size_t b = 0; b < buckets; ++b) {
      const std::size_t end = b + 1 == buckets ? node_count_ : layout_.buckets[b].ready_after;
      if (end > done) next({.kind = Kind::kCompute, .first_node = done, .last_node = end});
      done = std::max(done, end);
      if (!shape_.asynchronous) add_bucket(b);
    }
    for (std::size_t b = 0; shape_.asynchronous && b < buckets; ++b) add_bucket(b);
  }

  // All-reduces start in the same order on all ranks. Returns the last.
  int plan_reductions() {
    int reduced = -1;
    for (std::size_t b = 0; b < layout_.buckets.size(); ++b) {
      const int bucket = static_cast<int>(b);
      std::vector<int> after = added_[b];
      if (step_.lanes > 1) {
        after = append_parts(
            {.kind = Kind::kAddLanes, .anywhere = true, .bucket = bucket, .after = after},
            parts_of(layout_.buckets[b].count, step_.threads));
      }
      if (reduced >= 0) after.push_back(reduced);
      reduced = append({.kind = Kind::kReduce, .anywhere = true, .bucket = bucket, .after = after});
    }
    return reduced;
  }

  // All lanes are done when the last bucket is reduced, so that parameters may change.
  void plan_update(int reduced) {
    const int finish = append({.kind = Kind::kFinish, .anywhere = true, .after = {reduced}});
    const std::vector<int> read =
        append_parts({.kind = Kind::kRead, .anywhere = true, .after = {finish}},
                     parts_of(layout_.elements, step_.threads));
    const int begin = append({.kind = Kind::kBeginUpdate, .anywhere = true, .after = read});
    for (std::size_t b = 0; b < layout_.buckets.size(); ++b) {
      const GradientLayout::Bucket& bucket = layout_.buckets[b];
      const auto tensors = static_cast<int>(bucket.last_tensor - bucket.first_tensor);
      append_parts({.kind = Kind::kUpdate,
                    .anywhere = true,
                    .bucket = static_cast<int>(b),
                    .after = {begin}},
                   std::clamp(tensors, 1, parts_of(bucket.count, step_.threads)));
    }
  }

  const GradientLayout& layout_;
  const std::size_t node_count_;
  const StepShape& shape_;
  StepTasks step_;
  std::vector<int> before_;              // what the lane being planned did last
  std::vector<std::vector<int>> added_;  // to each bucket, by the last micro-batch of each lane
};

}  // namespace

std::string_view kind_name(Kind kind) noexcept {
  constexpr std::array<std::string_view, 11> kNames{
      "load_parameters", "bind",   "compute", "await",        "add",   "add_lanes",
      "reduce",          "finish", "read",    "begin_update", "update"};
  return kNames.at(static_cast<std::size_t>(kind));
}

StepTasks plan_step(const GradientLayout& layout, std::size_t node_count, const StepShape& shape) {
  return StepPlanner(layout, node_count, shape).plan();
}

}  // namespace winnow::train
