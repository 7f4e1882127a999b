#include "train/plan/step_tasks.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/error.h"

namespace winnow::train {
namespace {

using Kind = Task::Kind;

// Smaller parts are not worth waking another thread.
constexpr std::size_t kElementsOfAPart = 32'768;

// Number of parts into which `count` elements are cut for `threads` threads.
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
    for (int lane = 0; lane < step_.lanes; ++lane) lanes_.push_back({.index = lane});
  }

  StepTasks plan() && {
    std::vector<int> loaded;
    for (int lane = 0; lane < step_.lanes; ++lane) {
      loaded.push_back(append({.kind = Kind::kLoadParameters,
                               .lane = lane,
                               .part = {.index = lane, .of = step_.lanes}}));
    }
    for (Lane& lane : lanes_) lane.before = loaded;
    if (!shape_.comes_from.empty() || !shape_.goes_to.empty()) {
      plan_lanes_of_stage();
    } else if (shape_.exchanges.empty()) {
      plan_lanes();
    } else {
      plan_lanes_in_step();
    }
    plan_reductions(layout_.buckets.size());
    plan_update();
    return std::move(step_);
  }

 private:
  // Tasks of a lane follow each other, because each overwrites what the previous ones wrote.
  struct Lane {
    int index = 0;
    int micro_batch = 0;        // the one in progress
    bool last = false;          // it is the lane's last one
    std::size_t done = 0;       // nodes [0, done) of it are planned
    std::size_t added = 0;      // number of its buckets that are added
    int sent = -1;              // task that sends its latest micro-batch
    std::vector<int> before{};  // the lane's latest tasks
  };

  int append(Task task) {
    step_.tasks.push_back(std::move(task));
    return static_cast<int>(step_.tasks.size()) - 1;
  }

  // Appends one task for each part, all with the same dependencies.
  std::vector<int> append_parts(const Task& task, int parts) {
    std::vector<int> made;
    for (int i = 0; i < parts; ++i) {
      Task one = task;
      one.part = {.index = i, .of = parts};
      made.push_back(append(std::move(one)));
    }
    return made;
  }

  // Plans each lane separately, one micro-batch after the other.
  void plan_lanes() {
    int micro_batch = 0;
    for (Lane& lane : lanes_) {
      const int count = shape_.micro_batches[static_cast<std::size_t>(lane.index)];
      for (int m = 0; m < count; ++m) {
        bind(lane, micro_batch++, m + 1 == count);
        compute(lane, node_count_);
      }
    }
  }

  // Plans all lanes together, from exchange to exchange. Buckets that are ready before an exchange
  // are reduced before it.
  void plan_lanes_in_step() {
    for (Lane& lane : lanes_) {
      if (shape_.micro_batches[static_cast<std::size_t>(lane.index)] != 1) {
        throw Error("with --sync-bn each lane must compute exactly one micro-batch");
      }
      bind(lane, lane.index, true);
    }
    for (std::size_t e = 0; e < shape_.exchanges.size(); ++e) {
      for (Lane& lane : lanes_) compute(lane, shape_.exchanges[e]);
      plan_reductions(lanes_.front().added);
      Task exchange{.kind = Kind::kExchange, .anywhere = true, .exchange = static_cast<int>(e)};
      for (const Lane& lane : lanes_) {
        exchange.after.insert(exchange.after.end(), lane.before.begin(), lane.before.end());
      }
      if (collective_ >= 0) exchange.after.push_back(collective_);
      collective_ = append(std::move(exchange));
      for (Lane& lane : lanes_) lane.before = {collective_};
    }
    for (Lane& lane : lanes_) compute(lane, node_count_);
  }

  // In turns, because sends of all lanes have one order.
  void plan_lanes_of_stage() {
    const int turns = std::ranges::max(shape_.micro_batches);
    for (int turn = 0; turn < turns; ++turn) {
      int first = 0;
      for (Lane& lane : lanes_) {
        const int count = shape_.micro_batches[static_cast<std::size_t>(lane.index)];
        if (turn < count) plan_micro_batch_of_stage(lane, first + turn, turn + 1 == count);
        first += count;
      }
    }
    if (!received_.empty()) expect();
  }

  void expect() {
    Task task{.kind = Kind::kExpect, .anywhere = true, .after = received_};
    if (collective_ >= 0) task.after.push_back(collective_);
    collective_ = append(std::move(task));
  }

  void plan_micro_batch_of_stage(Lane& lane, int micro_batch, bool last) {
    const auto m = static_cast<std::size_t>(micro_batch);
    lane.micro_batch = micro_batch;
    if (lane.sent >= 0) lane.before.push_back(lane.sent);  // its memory is overwritten
    if (!shape_.comes_from.empty()) {
      next(lane, {.kind = Kind::kReceive, .peer = shape_.comes_from[m]});
      received_.push_back(lane.before.front());
    }
    bind(lane, micro_batch, last);
    if (!shape_.goes_to.empty()) {
      compute(lane, shape_.sent_after);
      send(lane, shape_.goes_to[m]);
    }
    compute(lane, node_count_);
  }

  // The lane continues meanwhile.
  void send(Lane& lane, int peer) {
    Task task{.kind = Kind::kSend,
              .lane = lane.index,
              .micro_batch = lane.micro_batch,
              .peer = peer,
              .after = lane.before};
    if (collective_ >= 0) task.after.push_back(collective_);
    lane.sent = collective_ = append(std::move(task));
  }

  void next(Lane& lane, Task task) {
    task.lane = lane.index;
    task.micro_batch = lane.micro_batch;
    task.after = lane.before;
    lane.before = {append(std::move(task))};
  }

  void bind(Lane& lane, int micro_batch, bool last) {
    lane.micro_batch = micro_batch;
    lane.last = last;
    lane.done = lane.added = 0;
    next(lane, {.kind = Kind::kBind});
  }

  // Plans the nodes up to `end`, and the additions of buckets that they complete.
  void compute(Lane& lane, std::size_t end) {
    const auto compute_to = [&](std::size_t stop) {
      if (stop > lane.done)
        next(lane, {.kind = Kind::kCompute, .first_node = lane.done, .last_node = stop});
      lane.done = std::max(lane.done, stop);
    };
    std::size_t bucket = lane.added;
    for (; bucket < layout_.buckets.size(); ++bucket) {
      const bool is_last = bucket + 1 == layout_.buckets.size();
      const std::size_t ready = is_last ? node_count_ : layout_.buckets[bucket].ready_after;
      if (ready > end) break;
      compute_to(ready);
      if (!shape_.asynchronous) add_bucket(lane, lane.added++);
    }
    compute_to(end);
    while (lane.added < bucket) add_bucket(lane, lane.added++);
  }

  void add_bucket(Lane& lane, std::size_t b) {
    next(lane, {.kind = Kind::kAwait, .bucket = static_cast<int>(b)});
    const int helpers = step_.threads - step_.lanes + 1;
    const int parts = parts_of(layout_.buckets[b].count, helpers);
    lane.before = append_parts({.kind = Kind::kAdd,
                                .lane = lane.index,
                                .anywhere = parts > 1,
                                .micro_batch = lane.micro_batch,
                                .bucket = static_cast<int>(b),
                                .after = lane.before},
                               parts);
    if (lane.last) added_[b].insert(added_[b].end(), lane.before.begin(), lane.before.end());
  }

  // Plans the reductions of buckets before `end` that are not planned yet.
  void plan_reductions(std::size_t end) {
    for (; reduced_ < end; ++reduced_) {
      const int bucket = static_cast<int>(reduced_);
      std::vector<int> after = added_[reduced_];
      if (step_.lanes > 1) {
        after = append_parts(
            {.kind = Kind::kAddLanes, .anywhere = true, .bucket = bucket, .after = after},
            parts_of(layout_.buckets[reduced_].count, step_.threads));
      }
      if (collective_ >= 0) after.push_back(collective_);
      collective_ =
          append({.kind = Kind::kReduce, .anywhere = true, .bucket = bucket, .after = after});
    }
  }

  // All lanes are done when the last bucket is reduced, so parameters may change then.
  void plan_update() {
    const int finish = append({.kind = Kind::kFinish, .anywhere = true, .after = {collective_}});
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
  std::vector<Lane> lanes_;
  // for each bucket: additions by the last micro-batch of each lane
  std::vector<std::vector<int>> added_;
  std::vector<int> received_;  // tasks that receive
  std::size_t reduced_ = 0;    // number of buckets whose reductions are planned
  int collective_ = -1;        // the latest task that starts an all-reduce, a send or receives
};

}  // namespace

std::string_view kind_name(Kind kind) noexcept {
  constexpr std::array<std::string_view, 15> kNames{
      "load_parameters", "receive",  "bind",  "compute",      "send",
      "expect",          "exchange", "await", "add",          "add_lanes",
      "reduce",          "finish",   "read",  "begin_update", "update"};
  return kNames.at(static_cast<std::size_t>(kind));
}

StepTasks plan_step(const GradientLayout& layout, std::size_t node_count, const StepShape& shape) {
  return StepPlanner(layout, node_count, shape).plan();
}

}  // namespace winnow::train
