#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "train/reduce/gradient_layout.h"

namespace winnow::train {

inline constexpr int kAnyLane = -1;

// A training step of one rank as data: tasks with dependencies, in an order that can be executed.
struct Task {
  enum class Kind : std::uint8_t {
    kLoadParameters,  // the lane's program takes up the updated parameters
    kBind,            // micro-batch `micro_batch` becomes the lane's input
    kCompute,         // nodes [first_node, last_node) of the lane's program
    kAdd,             // `bucket` of the micro-batch, once it is there, enters the lane's sum
    kReduce,          // `bucket` of all lanes starts its way over the ranks
    kFinish,          // waits for all reductions and looks at what came out
    kUpdate,          // parameters and running statistics in `bucket` change
  };
  Kind kind;
  int lane = kAnyLane;   // whose thread has to do it
  int micro_batch = -1;  // of this rank, from 0
  int bucket = -1;
  std::size_t first_node = 0;
  std::size_t last_node = 0;
  std::vector<int> after{};  // tasks that must be done before
};
std::string_view kind_name(Task::Kind kind) noexcept;

struct StepPlan {
  std::vector<Task> tasks{};
  int lanes = 1;
};

// Lane l works off micro_batches[l] micro-batches, a contiguous run of the rank's, one after the
// other; a bucket is reduced as soon as backward has written it in the last one of every lane,
// while backward goes on. With `asynchronous` programs a lane is given all of a micro-batch before
// the first bucket of it is waited for. Pure. Requires at least one lane and one micro-batch in
// each.
StepPlan plan_step(const GradientLayout& layout, std::size_t node_count,
                   std::span<const int> micro_batches, bool asynchronous = false);

}  // namespace winnow::train
