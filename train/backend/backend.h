#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

class WeightStore;
struct WeightTensor;
struct UpdateRule;

struct CompileOptions {
  DType compute = DType::kF32;
  int threads = 1;            // of a CPU
  bool deterministic = true;  // only kernels that give the same bits in every run; CPUs' all do
};

// A graph made ready to run: static shapes, primitives created, memory laid out. Nothing is
// allocated or created by run(). One thread at a time. Memory outside (inputs, parameters, states,
// outputs) is the caller's, bound before the first run and alive as long as the program is used. In
// it activations are f32 NHWC, parameters f32 in logical order, pixels u8 NHWC; outputs are
// assigned, never accumulated.
class Program {
 public:
  virtual ~Program() = default;
  virtual const Graph& graph() const noexcept = 0;
  virtual void bind(ValueId value, std::span<float> data) = 0;         // Error on a wrong size
  virtual void bind(ValueId value, std::span<std::uint8_t> data) = 0;  // for Storage::kU8
  // Takes up what changed in the bound parameters and states; called after every update.
  virtual void load_parameters() = 0;
  // Executes nodes [first, last) of graph().nodes. Ranges must be run in order, each once a step.
  // May return before they are done: inputs must stay, and outputs are not there, until wait().
  virtual void run(std::size_t first_node, std::size_t last_node) = 0;
  // Blocks until all that nodes [0, last) write outside is there; they have been given to run().
  virtual void wait([[maybe_unused]] std::size_t last_node) {}
  virtual std::size_t arena_bytes() const noexcept = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const noexcept = 0;
  // "avx512_core_bf16": what decides which instructions run and so which bits come out.
  virtual std::string instruction_set() const = 0;
  // "oneDNN 2.6.3": whose kernels they are, which decides as well.
  virtual std::string library() const = 0;
  virtual std::unique_ptr<Program> compile(const Graph& graph, const CompileOptions& options) = 0;

  // Programs run on this process's cores and are done when run() returns. False: on a card, one
  // program beside the host, which should be given all it has to do before anything is waited for.
  virtual bool is_on_cpu() const noexcept { return true; }
  // The weights in the memory of a card. Null: programs read the caller's, see host_weights.h.
  virtual std::unique_ptr<WeightStore> make_weights(std::vector<WeightTensor> tensors,
                                                const UpdateRule& rule);
};

struct BackendOptions {
  int device = 0;  // which of the cards this process sees, modulo their number
};

// One row per backend; a new one is its own folder and a row in backends.cpp.
struct BackendRow {
  std::string_view name;
  std::string_view what;
  std::unique_ptr<Backend> (*make)(const BackendOptions& options);
};
std::span<const BackendRow> backends();
// UsageError naming the known ones; Error where this machine cannot run it.
std::unique_ptr<Backend> make_backend(std::string_view name, const BackendOptions& options = {});

}  // namespace winnow::train
