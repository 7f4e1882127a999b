#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

class Program;

struct OptimizerOptions {
  double momentum = 0.9;
  double weight_decay = 1e-4;
  bool nesterov = true;      // sgd only
  double lars_trust = 1e-3;  // eta of LARS
};

// What train/optim says each does.
enum class UpdateKind : std::uint8_t { kSgd, kLars };
struct UpdateRule {
  UpdateKind kind = UpdateKind::kSgd;
  OptimizerOptions options;
};

// A parameter or running statistic of a net in the caller's memory, f32 in logical order.
struct WeightTensor {
  std::string name;
  std::span<float> value;
  std::span<float> momentum;  // parameters; empty: a running statistic
  bool decay = false;         // weight decay and LARS scaling apply
  double rate = 1;            // factor on the learning rate; 0: frozen, never changes
};

// What a step does to one tensor.
struct WeightUpdate {
  std::size_t tensor = 0;
  std::size_t offset = 0;  // of its elements among the sums
  double scale = 1;        // running statistics: of the sum, see kStatisticsMomentum
};

// running = (1 - m) * running + m * scale * sum; PyTorch's default.
inline constexpr double kStatisticsMomentum = 0.1;

// Where the numbers of a net live while it is trained, and how a step changes them. The tensors'
// memory is the caller's and outlives this; between load() and store() only what is here counts.
class Weights {
 public:
  virtual ~Weights() = default;
  // `program` reads its parameters and states, found by name, from here.
  virtual void bind(Program& program) = 0;
  virtual void load() = 0;   // from the caller's memory, which was changed
  virtual void store() = 0;  // to the caller's memory
  // A step begins with what was summed over its micro-batches and all ranks. False: something in it
  // is not finite; then this step must not update anything. `sums` stays until the next call.
  virtual bool take(std::span<const float> sums, double lr, std::int64_t step) = 0;
  // From several threads at once for different tensors. Programs must have ended what they were
  // given, and take up the change by load_parameters().
  virtual void update(std::span<const WeightUpdate> updates) = 0;
};

// The parameters and states that nodes of `graph` read: what a program of it has to be bound to.
std::vector<ValueId> weights_read_by(const Graph& graph);

}  // namespace winnow::train
