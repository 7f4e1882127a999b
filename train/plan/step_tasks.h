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

// One unit of work in a training step of one rank. A lane is a replica of the program.
struct Task {
  enum class Kind : std::uint8_t {
    kLoadParameters,  // packs the lane's part of the updated parameters, for all lanes
    // Waits for the values of `micro_batch` from the previous pipeline stage, sent by rank `peer`.
    kReceive,
    kBind,     // makes micro-batch `micro_batch` the input of the lane's program
    kCompute,  // runs nodes [first_node, last_node) of the lane's program
    kSend,  // starts to send the values of `micro_batch` to rank `peer` of the next pipeline stage
    kExpect,  // starts to receive the previous pipeline stage's values of the next step
    // Replaces batch norm statistics (`exchange`) in each micro-batch by those of all
    // micro-batches.
    kExchange,
    // Waits until `bucket` of the micro-batch is computed; for the last bucket, also scores it.
    kAwait,
    kAdd,          // adds `part` of `bucket` of the micro-batch to the lane's sum
    kAddLanes,     // adds `part` of `bucket` over the sums of all lanes
    kReduce,       // starts the all-reduce of `bucket`
    kFinish,       // waits for all all-reduces, and decides whether the step is repeated
    kRead,         // prepares `part` of the sums for the update, and checks that it is finite
    kBeginUpdate,  // starts the update of the weights
    kUpdate,       // updates `part` of the parameters and running statistics in `bucket`
  };
  Kind kind;
  int lane = kAnyLane;    // lane (program replica) whose program and sum the task uses
  bool anywhere = false;  // any thread may execute it; otherwise only the lane's own thread
  int micro_batch = -1;   // index of the micro-batch among those of this rank, from 0
  int bucket = -1;
  int exchange = -1;
  int peer = -1;  // rank of the neighbouring pipeline stage
  Part part{};
  std::size_t first_node = 0;
  std::size_t last_node = 0;
  std::vector<int> after{};  // indices of the tasks that must be done before

  friend bool operator==(const Task&, const Task&) = default;
};
std::string_view kind_name(Task::Kind kind) noexcept;

// A training step of one rank as data: tasks with dependencies, in executable order.
struct StepTasks {
  std::vector<Task> tasks{};
  int lanes = 1;
  int threads = 1;  // at least one for each lane; the others help with tasks that are `anywhere`

  friend bool operator==(const StepTasks&, const StepTasks&) = default;
};

// Input of plan_step(), besides the layout of the gradients.
struct StepShape {
  // Number of micro-batches of each lane (program replica), at least one.
  std::vector<int> micro_batches;
  int threads = 1;  // number of threads of the rank
  // A lane's program gets a whole micro-batch before any result is awaited, as on a GPU.
  bool asynchronous = false;
  // Exchange::ready_after of each exchange of batch norm statistics, ascending.
  std::vector<std::size_t> exchanges{};
  // In a pipeline, for each micro-batch: the rank from which it is received, and the rank to which
  // it is sent. Empty: none.
  std::vector<int> comes_from{};
  std::vector<int> goes_to{};
  std::size_t sent_after = 0;  // number of nodes until the values to send are computed
};

// Returns the tasks of a rank's steps. Pure.
//
// Lanes     Lane (program replica) l computes shape.micro_batches[l] micro-batches of the rank, a
//           contiguous range, one after the other. All lanes wait until every part of the
//           parameters is packed.
// Overlap   A bucket of gradients is reduced as soon as the last micro-batch of every lane has
//           written it, while the backward pass continues.
// Sends     In the order in which lanes compute the values, as in plan_hand_overs(): the first
//           micro-batch of each lane, then the second of each. A receive is its lane's first task
//           of a micro-batch.
// Expects   After all receives and sends of the step, before its all-reduces: messages of the next
//           step arrive while the last micro-batches are computed.
// Exchange  All lanes wait for it; each then has a single micro-batch.
// Order     All-reduces, including those of exchanges, start in the same order on all ranks.
// Threads   Additions, checks for finite numbers and updates are cut into parts, for as many
//           threads as the rank has. The cuts change no bit.
// Throws    Error: exchanges, and a lane with several micro-batches.
StepTasks plan_step(const GradientLayout& layout, std::size_t node_count, const StepShape& shape);

}  // namespace winnow::train
