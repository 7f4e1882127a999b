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

// A parameter or running statistic of a net in the caller's memory, f32 in logical order.
struct WeightTensor {
  std::string name;
  std::span<float> value;
  std::vector<std::span<float>> state{};  // the optimiser's, one for each slot, as long as `value`
  bool parameter = true;                  // false: a running statistic of batch norm, without state
  bool decay = false;                     // weight decay and LARS scaling apply
  double lr_scale = 1;                    // learning-rate multiplier; 0: frozen, never changes
  std::span<float> slow{};                // lookahead weights, see averaging.h; empty: none
  std::span<float> ema{};                 // moving average, also of running statistics; empty: none
};

// The update of one tensor in a step.
struct WeightUpdate {
  std::size_t tensor = 0;
  std::size_t offset = 0;  // position of its elements within the sums
  // For running statistics: running = (1 - momentum) * running + momentum * scale * sum.
  double scale = 1;
  double momentum = kBatchNormMomentum;
};

// Where a net's numbers are stored during training: in the caller's memory or on a GPU.
//
// Lifetime  The caller's tensors must outlive the store. Between load() and store(), the store has
//           the newest numbers.
// Threads   update() may run on several threads for different tensors; everything else on one
//           thread.
class WeightStore {
 public:
  virtual ~WeightStore() = default;
  // `program` reads its parameters and running statistics from here, found by name.
  virtual void bind(Program& program) = 0;
  virtual void load() = 0;   // from the caller's memory, after changes to it
  virtual void store() = 0;  // to the caller's memory
  // Begins the update of step `step`, counted from 0. Call it before update().
  // sums          Sums over micro-batches and ranks; must stay valid until the next call.
  // known_finite  The caller has already checked every part of `sums` by all_finite(), perhaps on
  //               several threads: no second check.
  // Returns       false if a sum is not finite. Then do not call update() in this step.
  virtual bool begin_update(std::span<const float> sums, double lr, std::int64_t step,
                            bool known_finite = false) = 0;
  // Updates some tensors by one step. Programs must have finished their work; they see the change
  // after load_parameters(). The bits do not depend on how tensors are distributed over calls and
  // threads.
  virtual void update(std::span<const WeightUpdate> updates) = 0;
};

// Whether there is no NaN and no infinity. For any part of a tensor, from any thread.
bool all_finite(std::span<const float> values) noexcept;

// The parameters and states that nodes of `graph` read: those to which a program of it must be
// bound.
std::vector<ValueId> weights_read_by(const Graph& graph);

}  // namespace winnow::train
