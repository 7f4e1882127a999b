#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "train/reduce/gradient_layout.h"
#include "train/reduce/part.h"

namespace winnow::train {

inline constexpr int kAnyLane = -1;

// One unit of a training step of one rank.
struct Task {
  enum class Kind : std::uint8_t {
    kLoadParameters,  // the lane's thread packs its part of the updated parameters, for all lanes
    kReceive,         // waits for the previous stage's values of `micro_batch`, from `peer`
    kBind,            // micro-batch `micro_batch` becomes the lane's input
    kCompute,         // nodes [first_node, last_node) of the lane's program
    kSend,            // starts to send the stage's values of the micro-batch to `peer`
    kExchange,        // replaces the values of `exchange` in each micro-batch by those of all
    kAwait,           // waits for `bucket` of the micro-batch; the last bucket includes its score
    kAdd,             // adds `part` of `bucket` of the micro-batch to the lane's sum
    kAddLanes,        // adds `part` of `bucket` over the sums of all lanes
    kReduce,          // starts the all-reduce of `bucket`
    kFinish,          // waits for all all-reduces, and decides whether the step is repeated
    kRead,            // prepares `part` of the sums for the update, and checks that it is finite
    kBeginUpdate,     // starts the step's update
    kUpdate,          // updates `part` of the parameters and running statistics in `bucket`
  };
  Kind kind;
  int lane = kAnyLane;    // whose program and sum it uses
  bool anywhere = false;  // on any thread; otherwise on the lane's
  int micro_batch = -1;   // index among those of this rank, from 0
  int bucket = -1;
  int exchange = -1;
  int peer = -1;  // the rank of the other stage
  Part part{};
  std::size_t first_node = 0;
  std::size_t last_node = 0;
  std::vector<int> after{};  // tasks that must be done before

  friend bool operator==(const Task&, const Task&) = default;
};
std::string_view kind_name(Task::Kind kind) noexcept;

// A training step of one rank as data: tasks with dependencies, in executable order.
struct StepTasks {
  std::vector<Task> tasks{};
  int lanes = 1;
  int threads = 1;  // at least one for each lane; the others help with `anywhere` tasks

  friend bool operator==(const StepTasks&, const StepTasks&) = default;
};

// Input of plan_step(), besides the gradients.
struct StepShape {
  std::vector<int> micro_batches;  // for each lane, at least one
  int threads = 1;                 // threads of the rank
  bool asynchronous = false;       // a lane receives a whole micro-batch before anything is awaited
  std::vector<std::size_t> exchanges{};  // ready_after of each Exchange, ascending
  // In a pipeline: the rank from which each micro-batch is received, or to which it is sent; empty:
  // none.
  std::vector<int> comes_from{};
  std::vector<int> goes_to{};
  std::size_t sent_after = 0;  // number of nodes until the sent values are computed
};

// The tasks of a rank's steps. Pure.
//
// Lanes     Lane l computes shape.micro_batches[l] micro-batches of the rank, a contiguous range,
//           one after the other. All lanes wait until every part of the parameters is packed.
// Overlap   A bucket is reduced as soon as the last micro-batch of every lane has written it, while
//           backward continues.
// Sends     Are in the order in which lanes get to them, as in plan_hand_overs(): the first
//           micro-batch of each lane, then the second of each. A receive is its lane's first task
//           of a micro-batch.
// Exchange  All lanes wait for it; each then has a single micro-batch.
// Order     All-reduces, including those of exchanges, start in the same order on all ranks.
// Threads   Additions, checks for finite numbers and updates are cut into parts, for as many
//           threads as the rank has. The cuts change no bit.
// Throws    Error: exchanges, and a lane with several micro-batches.
StepTasks plan_step(const GradientLayout& layout, std::size_t node_count, const StepShape& shape);

}  // namespace winnow::train
