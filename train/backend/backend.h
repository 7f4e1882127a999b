#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
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

// Which of a library's kernels computes a layer.
// Key     the layer, its pass, types and extents: "conv2d forward bf16 n32 c64 h56 w56 k64 ..."
// Value   the library's name of the kernel: "brgconv:avx512_core_bf16", "cudnn engine 46"
using KernelChoices = std::map<std::string, std::string>;

struct CompileOptions {
  DType compute = DType::kF32;
  int threads = 1;            // of a CPU
  bool deterministic = true;  // only kernels that give the same bits in every run; CPUs' all do
  const KernelChoices* choices = nullptr;  // to impose where the backend can; null: it chooses
};

// Bytes of memory, on a card: of the card's.
struct MemoryUse {
  std::size_t lane_bytes = 0;     // of each lane: values, scratch memory
  std::size_t scratch_bytes = 0;  // scratch memory among them
  std::size_t shared_bytes = 0;   // once for all lanes: packed weights
};

// A graph made ready to run: static shapes, primitives created, memory laid out.
//
// Outside   Inputs, parameters, states and outputs are the caller's memory, bound before the first
//           run and alive as long as the program is used. Activations are f32 NHWC, parameters f32
//           in logical order, pixels u8 NHWC.
// Outputs   are assigned, never accumulated.
// Shared    kSharedMean and kSharedVariance outputs: after wait() for the node that writes one, and
//           before the next run(), the caller may change it. Nodes that follow read what is there.
// Memory    run() and wait() allocate and create nothing.
// Threads   One at a time; load_parameters() excepted.
class Program {
 public:
  virtual ~Program() = default;
  virtual const Graph& graph() const noexcept = 0;
  virtual void bind(ValueId value, std::span<float> data) = 0;         // Error on a wrong size
  virtual void bind(ValueId value, std::span<std::uint8_t> data) = 0;  // for Storage::kU8

  // Packs the bound parameters and states for the kernels. Called after every update.
  // Part      Packs the share `part` of `parts`. All parts together pack everything.
  // Lanes     Packs for all programs of the same compile_lanes(). Call it on any one of them.
  // Threads   Different parts may be loaded at once, while none of these programs runs.
  // Errors    run() throws Error until every part of a load is done.
  virtual void load_parameters(int part = 0, int parts = 1) = 0;

  // Executes nodes [first, last) of graph().nodes. Ranges must be run in order, each once a step.
  // May return before they are done: inputs must stay, and outputs are not there, until wait().
  virtual void run(std::size_t first_node, std::size_t last_node) = 0;
  // Blocks until all that nodes [0, last) write outside is there; they have been given to run().
  virtual void wait([[maybe_unused]] std::size_t last_node) {}
  virtual std::size_t arena_bytes() const noexcept = 0;  // all memory of its own, shared included
  virtual KernelChoices choices() const { return {}; }
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const noexcept = 0;
  // "avx512_core_bf16": what decides which instructions run and so which bits come out.
  virtual std::string instruction_set() const = 0;
  // "oneDNN 2.6.3": whose kernels they are, which decides as well.
  virtual std::string library() const = 0;
  // Throws UsageError for options it cannot compute with, Error for what it has no kernel for.
  virtual std::unique_ptr<Program> compile(const Graph& graph, const CompileOptions& options) = 0;
  // So many equal programs that share packed weights and may run at once. They are bound to the
  // same parameters. The default is for backends with one lane: Error for several.
  virtual std::vector<std::unique_ptr<Program>> compile_lanes(const Graph& graph,
                                                              const CompileOptions& options,
                                                              int lanes);
  // What compile_lanes() would allocate. Chooses kernels, but allocates no such memory itself.
  virtual MemoryUse memory_of(const Graph& graph, const CompileOptions& options) = 0;

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
