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
  std::vector<std::span<float>> state{};  // the optimiser's, a slot each, as long as `value`
  bool parameter = true;                  // false: a running statistic of batch norm, without state
  bool decay = false;                     // weight decay and LARS scaling apply
  double lr_scale = 1;                    // factor on the learning rate; 0: frozen, never changes
  std::span<float> slow{};                // lookahead's, see averaging.h; empty: none
  std::span<float> ema{};                 // likewise, of running statistics too
};

// What a step does to one tensor.
struct WeightUpdate {
  std::size_t tensor = 0;
  std::size_t offset = 0;  // of its elements among the sums
  // Running statistics: running = (1 - momentum) * running + momentum * scale * sum.
  double scale = 1;
  double momentum = kBatchNormMomentum;
};

// Where the numbers of a net live while it is trained: in the caller's memory or on a card.
//
// The caller's tensors outlive the store. Between load() and store() the store has the newest
// numbers. Threads: update() from several at once for different tensors, the rest from one.
class WeightStore {
 public:
  virtual ~WeightStore() = default;
  // `program` reads its parameters and running statistics, found by name, from here.
  virtual void bind(Program& program) = 0;
  virtual void load() = 0;   // from the caller's memory, which was changed
  virtual void store() = 0;  // to the caller's memory
  // Begins the update of step `step`, counted from 0. Call it before update().
  // sums          summed over micro-batches and ranks; must stay until the next call
  // known_finite  the caller has seen all_finite() of every part of `sums`, perhaps on several
  //               threads: they are not checked again
  // False         a sum is not finite: do not call update() in this step.
  virtual bool begin_update(std::span<const float> sums, double lr, std::int64_t step,
                            bool known_finite = false) = 0;
  // Changes some tensors by one step. Programs must have ended what they were given; they see the
  // change after load_parameters(). The bits do not depend on how tensors are dealt out to calls
  // and threads.
  virtual void update(std::span<const WeightUpdate> updates) = 0;
};

// No NaN and no infinity among them. For any part of a tensor, from any thread.
bool all_finite(std::span<const float> values) noexcept;

// The parameters and states that nodes of `graph` read: what a program of it has to be bound to.
std::vector<ValueId> weights_read_by(const Graph& graph);

}  // namespace winnow::train
