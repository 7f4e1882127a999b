#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "train/graph/graph.h"
#include "train/optim/optimizer.h"

namespace winnow::train {

class Program;

// A parameter or running statistic of a net, in the caller's memory, f32 in logical order.
struct WeightTensor {
  std::string name;
  std::span<float> value;
  // State vectors of the optimiser, such as its momentum, each as long as `value`.
  std::vector<std::span<float>> state{};
  // Whether it is a parameter; false: a running statistic of batch norm, without state.
  bool parameter = true;
  bool decay = false;       // whether weight decay and LARS scaling apply
  double lr_scale = 1;      // learning-rate multiplier; 0: the tensor is frozen
  std::span<float> slow{};  // Lookahead's slow weights, see averaging.h; empty: none
  std::span<float> ema{};   // moving average of `value`; empty: none
};

// How one tensor is updated in a step.
struct WeightUpdate {
  std::size_t tensor = 0;
  std::size_t offset = 0;  // position of the tensor's first element within the sums
  // For running statistics: running = (1 - momentum) * running + momentum * scale * sum.
  double scale = 1;
  double momentum = kBatchNormMomentum;
};

// Holds a net's weights during training, in the caller's memory or on a GPU.
//
// Lifetime  The caller's tensors must outlive the store. Between load() and store(), only the store
//           has the newest numbers.
// Threads   update() may run on several threads for different tensors; everything else on one
//           thread.
class WeightStore {
 public:
  virtual ~WeightStore() = default;
  // Makes `program` read its parameters and running statistics from this store. They are found by
  // name.
  virtual void bind(Program& program) = 0;
  virtual void load() = 0;   // copies from the caller's memory, after the caller changed it
  virtual void store() = 0;  // copies to the caller's memory
  // Begins the update of step `step`, counted from 0. Call it before update().
  // sums          Sums over micro-batches and ranks, of gradients and of batch norm statistics.
  //               They must stay valid until the next call.
  // known_finite  The caller has already checked all of `sums` by all_finite(), so there is no
  //               second check.
  // Out           false if a sum is not finite. Then do not call update() in this step.
  virtual bool begin_update(std::span<const float> sums, double lr, std::int64_t step,
                            bool known_finite = false) = 0;
  // Updates some tensors by one step. Programs must have finished their work; they read the new
  // values after load_parameters().
  // Bits  Do not depend on how tensors are distributed over calls and threads.
  virtual void update(std::span<const WeightUpdate> updates) = 0;
};

// Whether no value is NaN or infinity. Thread-safe.
bool all_finite(std::span<const float> values) noexcept;

// Returns the parameters and buffers that nodes of `graph` read. A program of the graph must be
// bound to all of them.
std::vector<ValueId> weights_read_by(const Graph& graph);

}  // namespace winnow::train
