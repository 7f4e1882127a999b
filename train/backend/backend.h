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

// For each layer, the kernel of the library that computes it.
// Key    The layer with its pass, types and extents: "conv2d forward bf16 n32 c64 h56 w56 k64 ...".
// Value  The library's name of the kernel: "brgconv:avx512_core_bf16", "cudnn engine 46".
using KernelChoices = std::map<std::string, std::string>;

// For each layer, named as in KernelChoices, the kernels that could compute it. The first is the
// library's own choice.
using KernelCandidates = std::map<std::string, std::vector<std::string>>;

struct CompileOptions {
  DType compute = DType::kF32;
  int threads = 1;  // threads of the program; only for CPU backends
  // Use only kernels with the same bits in every run. All CPU kernels have this property.
  bool deterministic = true;
  // Kernels to use for certain layers, if the backend supports imposing them; nullptr: the backend
  // chooses. Layers that are not in the graph are ignored, because other stages of a pipeline have
  // them.
  const KernelChoices* choices = nullptr;
};

// Memory that programs use, in bytes; for a GPU, device memory.
struct MemoryUse {
  std::size_t lane_bytes = 0;     // values and scratch memory of each lane (replica of the program)
  std::size_t scratch_bytes = 0;  // scratch memory, which lane_bytes includes
  std::size_t shared_bytes = 0;   // packed weights, which all lanes (replicas of the program) share
};

// The kernel that computes one node of a program.
struct NodeKernel {
  std::string layer{};            // layer name as in KernelChoices; empty: there is only one kernel
  std::size_t scratch_bytes = 0;  // scratch memory that the kernel needs while the node runs
};

// A compiled graph: static shapes, primitives created, memory laid out.
//
// Binding  Inputs, parameters, buffers and outputs are in the caller's memory. They are bound
//          before the first run and must live as long as the program is used.
// Layout   Activations are f32 NHWC, parameters f32 in logical order, pixels u8 NHWC.
// Outputs  Are assigned, never accumulated.
// Shared   The caller may change a kSharedMean or kSharedVariance output after wait() for the node
//          that writes it and before the next run(). The following nodes read the changed values.
// Memory   run() and wait() allocate and create nothing.
// Threads  One thread at a time, except for load_parameters().
class Program {
 public:
  virtual ~Program() = default;
  virtual const Graph& graph() const noexcept = 0;
  // Binds an f32 value; throws Error if the size is wrong.
  virtual void bind(ValueId value, std::span<float> data) = 0;
  // Binds a value with Storage::kU8; throws Error if the size is wrong.
  virtual void bind(ValueId value, std::span<std::uint8_t> data) = 0;

  // Packs the bound parameters and buffers into the layouts that kernels read. Call it after every
  // update of the weights.
  // part     Packs part `part` of `parts`. All parts together pack everything.
  // Lanes    Packs for all programs of one compile_lanes(). Call it on any one of them.
  // Threads  Different parts may be loaded in parallel, while none of these programs runs.
  // Errors   run() throws Error until every part of a load is done.
  virtual void load_parameters(int part = 0, int parts = 1) = 0;

  // Executes nodes [first_node, last_node) of graph().nodes. Run ranges in order, each node once a
  // step.
  // The call may return before the nodes have finished. Until wait(), inputs must not change, and
  // outputs are not available.
  virtual void run(std::size_t first_node, std::size_t last_node) = 0;
  // Blocks until the outputs of nodes [0, last_node) are available in the caller's memory. These
  // nodes must have been passed to run() before.
  virtual void wait([[maybe_unused]] std::size_t last_node) {}
  // Bytes of memory that the program allocated, including memory that it shares with other programs
  // of one compile_lanes().
  virtual std::size_t arena_bytes() const noexcept = 0;
  virtual KernelChoices choices() const { return {}; }
  // The kernel of each node of graph(). Empty: the backend does not report kernels.
  virtual std::vector<NodeKernel> node_kernels() const { return {}; }
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const noexcept = 0;
  // Name of the instruction set in use, such as "avx512_core_bf16". The bits of results depend on
  // it.
  virtual std::string instruction_set() const = 0;
  // Name of the kernel library, such as "oneDNN 2.6.3". The bits of results depend on it.
  virtual std::string library() const = 0;
  // Compiles a graph to a program.
  // Throws  UsageError: options that the backend does not support. Error: an operation without a
  //         kernel.
  virtual std::unique_ptr<Program> compile(const Graph& graph, const CompileOptions& options) = 0;
  // Compiles `lanes` equal programs that share packed weights and may run in parallel. All must be
  // bound to the same parameters. The default implementation is for backends that support one lane:
  // it throws Error for several.
  virtual std::vector<std::unique_ptr<Program>> compile_lanes(const Graph& graph,
                                                              const CompileOptions& options,
                                                              int lanes);
  // Returns the memory that compile_lanes() would allocate. Chooses kernels, but does not allocate
  // this memory.
  virtual MemoryUse memory_of(const Graph& graph, const CompileOptions& options) = 0;

  // Returns the kernels that could compute the layers of `graph`; each of them can be imposed.
  // Empty: the backend does not report kernels.
  virtual KernelCandidates candidates_of([[maybe_unused]] const Graph& graph,
                                         [[maybe_unused]] const CompileOptions& options) {
    return {};
  }

  // True: programs compute on this process's cores, and run() returns when its nodes are done.
  // False: a program on a GPU runs concurrently with the host, so give it all its work before
  // waiting.
  virtual bool is_on_cpu() const noexcept { return true; }
  // Makes a store of weights in GPU memory. nullptr: programs read the caller's memory, see
  // host_weights.h.
  virtual std::unique_ptr<WeightStore> make_weights(std::vector<WeightTensor> tensors,
                                                    const UpdateRule& rule);
};

struct BackendOptions {
  int device = 0;  // GPU index among those that this process sees, taken modulo their number
};

// One backend: a row of backends(). To add a backend: a folder of its own, and a row in
// backends.cpp.
struct BackendRow {
  std::string_view name;
  std::string_view what;
  std::unique_ptr<Backend> (*make)(const BackendOptions& options);
};
std::span<const BackendRow> backends();
// Creates the backend called `name`.
// Throws  UsageError, which names the known backends, for an unknown name. Error: this machine
//         cannot run it.
std::unique_ptr<Backend> make_backend(std::string_view name, const BackendOptions& options = {});

}  // namespace winnow::train
