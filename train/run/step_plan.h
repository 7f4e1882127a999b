#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "train/run/gradients.h"

namespace winnow::train {

// A training step of one rank as data: tasks with dependencies, in an order that can be executed.
struct Task {
  enum class Kind : std::uint8_t {
    kLoadParameters,  // the program takes up the updated parameters
    kBind,            // micro-batch `micro_batch` becomes the program's input
    kCompute,         // nodes [first_node, last_node) of the program
    kAccumulate,      // `bucket` of the micro-batch is added to the rank's sum
    kTail,            // the trainer's own numbers enter the last bucket
    kReduce,          // `bucket` starts its way over the ranks
    kUpdate,          // waits for it; parameters and running statistics in `bucket` change
  };
  Kind kind;
  int micro_batch = -1;
  int bucket = -1;
  std::size_t first_node = 0;
  std::size_t last_node = 0;
  std::vector<int> after{};  // tasks that must be done (kReduce: started) before
};

struct StepPlan {
  std::vector<Task> tasks;
};

// Micro-batches one after the other; in the last one every bucket is reduced as soon as backward
// has written it, while backward goes on. Pure. Requires micro_batches >= 1.
StepPlan plan_step(const GradientLayout& layout, std::size_t node_count, int micro_batches);

std::string to_json(const StepPlan& plan);

}  // namespace winnow::train
