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

// Which of a library's kernels computes each layer.
// Key    The layer, its pass, types and extents: "conv2d forward bf16 n32 c64 h56 w56 k64 ...".
// Value  The library's name of the kernel: "brgconv:avx512_core_bf16", "cudnn engine 46".
using KernelChoices = std::map<std::string, std::string>;

// The kernels that could compute each layer, by the layer's name as in KernelChoices. The first is
// the library's own choice.
using KernelCandidates = std::map<std::string, std::vector<std::string>>;

struct CompileOptions {
  DType compute = DType::kF32;
  int threads = 1;  // for a CPU
  // only kernels with the same bits in every run; all CPU kernels have them
  bool deterministic = true;
  // imposed if the backend supports it; nullptr: it chooses. Layers that the graph does not have
  // are ignored, as of other stages of a pipeline.
  const KernelChoices* choices = nullptr;
};

// Memory use in bytes; for a GPU, device memory.
struct MemoryUse {
  std::size_t lane_bytes = 0;     // for each lane: values and scratch memory
  std::size_t scratch_bytes = 0;  // the scratch memory included in lane_bytes
  std::size_t shared_bytes = 0;   // once for all lanes: packed weights
};

// The kernel of a node in a program.
struct NodeKernel {
  std::string layer{};            // as in KernelChoices; empty: there is no choice
  std::size_t scratch_bytes = 0;  // valid while the node runs
};

// A compiled graph: static shapes, primitives created, memory laid out.
//
// Outside  Inputs, parameters, states and outputs are the caller's memory, bound before the first
//          run. It must live as long as the program is used. Activations are f32 NHWC, parameters
//          f32 in logical order, pixels u8 NHWC.
// Outputs  Are assigned, never accumulated.
// Shared   The caller may change a kSharedMean or kSharedVariance output after wait() for the node
//          that writes it and before the next run(). The following nodes read the changed values.
// Memory   run() and wait() allocate and create nothing.
// Threads  One at a time, except for load_parameters().
class Program {
 public:
  virtual ~Program() = default;
  virtual const Graph& graph() const noexcept = 0;
  virtual void bind(ValueId value, std::span<float> data) = 0;         // Error if the size is wrong
  virtual void bind(ValueId value, std::span<std::uint8_t> data) = 0;  // for Storage::kU8

  // Packs the bound parameters and states for the kernels. Called after every update.
  // Part     Packs part `part` of `parts`. All parts together pack everything.
  // Lanes    Packs for all programs of one compile_lanes(). Call it on any one of them.
  // Threads  Different parts may be loaded in parallel, while none of these programs runs.
  // Errors   run() throws Error until every part of a load is done.
  virtual void load_parameters(int part = 0, int parts = 1) = 0;

  // Executes nodes [first, last) of graph().nodes. Run ranges in order, each once a step.
  // May return before they have finished: until wait(), inputs must stay and outputs are not
  // available.
  virtual void run(std::size_t first_node, std::size_t last_node) = 0;
  // Blocks until everything that nodes [0, last) write outside is available. They must have been
  // passed to run() before.
  virtual void wait([[maybe_unused]] std::size_t last_node) {}
  // all memory of its own, including shared memory
  virtual std::size_t arena_bytes() const noexcept = 0;
  virtual KernelChoices choices() const { return {}; }
  // The kernel of each node of the graph. Empty: the backend does not report them.
  virtual std::vector<NodeKernel> node_kernels() const { return {}; }
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const noexcept = 0;
  // Instruction set such as "avx512_core_bf16". It determines the bits of the results.
  virtual std::string instruction_set() const = 0;
  // Kernel library such as "oneDNN 2.6.3". It also determines the bits.
  virtual std::string library() const = 0;
  // Throws UsageError for options that it does not support, Error for operations without a kernel.
  virtual std::unique_ptr<Program> compile(const Graph& graph, const CompileOptions& options) = 0;
  // Compiles `lanes` equal programs that share packed weights and may run in parallel. They must be
  // bound to the same parameters. The default is for backends with one lane: Error for several.
  virtual std::vector<std::unique_ptr<Program>> compile_lanes(const Graph& graph,
                                                              const CompileOptions& options,
                                                              int lanes);
  // The memory that compile_lanes() would allocate. Chooses kernels, but does not allocate this
  // memory.
  virtual MemoryUse memory_of(const Graph& graph, const CompileOptions& options) = 0;

  // The kernels that could compute the layers of `graph`, each of which can be imposed. Empty: the
  // backend does not report them.
  virtual KernelCandidates candidates_of([[maybe_unused]] const Graph& graph,
                                         [[maybe_unused]] const CompileOptions& options) {
    return {};
  }

  // True: programs run on this process's cores, and are done when run() returns. False: one program
  // on a GPU runs concurrently with the host; give it all its work before waiting for any.
  virtual bool is_on_cpu() const noexcept { return true; }
  // Weights in GPU memory. nullptr: programs read the caller's memory, see host_weights.h.
  virtual std::unique_ptr<WeightStore> make_weights(std::vector<WeightTensor> tensors,
                                                    const UpdateRule& rule);
};

struct BackendOptions {
  int device = 0;  // index among the GPUs this process sees, modulo their number
};

// One row per backend. To add one: a folder of its own, and a row in backends.cpp.
struct BackendRow {
  std::string_view name;
  std::string_view what;
  std::unique_ptr<Backend> (*make)(const BackendOptions& options);
};
std::span<const BackendRow> backends();
// Throws UsageError, naming the known ones, for an unknown name; Error if this machine cannot run
// it.
std::unique_ptr<Backend> make_backend(std::string_view name, const BackendOptions& options = {});

}  // namespace winnow::train
