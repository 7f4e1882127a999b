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
    kReceive,      // what the stage before made of micro-batch `micro_batch` is here, from `peer`
    kBind,         // micro-batch `micro_batch` becomes the lane's input
    kCompute,      // nodes [first_node, last_node) of the lane's program
    kSend,         // what the stage made of the micro-batch begins its way to `peer`
    kExchange,     // what `exchange` has of each micro-batch becomes what it has of all
    kAwait,        // `bucket` of the micro-batch is there; with the last one its score as well
    kAdd,          // `part` of `bucket` of the micro-batch enters the lane's sum
    kAddLanes,     // `part` of `bucket`: the sums of all lanes are added up
    kReduce,       // the all-reduce of `bucket` starts
    kFinish,       // waits for all all-reduces; is the step to be repeated?
    kRead,         // `part` of the sums is made ready for the update; is it finite?
    kBeginUpdate,  // the step's update begins
    kUpdate,       // `part` of the parameters and running statistics in `bucket` changes
  };
  Kind kind;
  int lane = kAnyLane;    // whose program and sum it uses
  bool anywhere = false;  // on any thread; otherwise on the lane's
  int micro_batch = -1;   // index among those of this rank, from 0
  int bucket = -1;
  int exchange = -1;
  int peer = -1;  // rank
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
  // Of a stage of a pipeline: the rank that each micro-batch comes from or goes to; empty: none.
  std::vector<int> comes_from{};
  std::vector<int> goes_to{};
  std::size_t sent_after = 0;  // nodes that make what is sent
};

// The tasks of a rank's steps. Pure.
//
// Lanes    Lane l works off shape.micro_batches[l] micro-batches of the rank, one after the other:
//          a contiguous run. All lanes wait until every part of the parameters is packed.
// Overlap  A bucket is reduced as soon as the last micro-batch of every lane has written it, while
//          backward goes on.
// Sends    In the order in which lanes come to them, as plan_hand_overs() has it: the first
//          micro-batch of each lane, then the second of each. A receive is its lane's first task of
//          a micro-batch.
// Exchange What micro-batches tell each other, all lanes wait for. Lanes have one micro-batch each
//          then.
// Order    All-reduces, those of exchanges among them, begin in the same order on all ranks.
// Throws   Error: exchanges, and a lane with several micro-batches
// Threads  Additions, the look for numbers that are not finite and updates are cut into parts, for
//          as many threads as the rank has. No cut changes a bit.
StepTasks plan_step(const GradientLayout& layout, std::size_t node_count, const StepShape& shape);

}  // namespace winnow::train
