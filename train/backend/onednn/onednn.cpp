#include "train/backend/onednn/onednn.h"

#include <omp.h>

#include <string>
#include <utility>

#include "common/error.h"
#include "train/backend/checks.h"
#include "train/backend/load_state.h"
#include "train/backend/onednn/compiled_internal.h"
#include "train/backend/onednn/kernels.h"

namespace winnow::train {
namespace {

// Sets the number of threads within a scope. oneDNN takes it from OpenMP, for the calling thread.
class ThreadCount {
 public:
  explicit ThreadCount(int threads) : before_(omp_get_max_threads()) {
    omp_set_num_threads(threads);
  }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;
  ~ThreadCount() { omp_set_num_threads(before_); }

 private:
  int before_;
};

std::unique_ptr<onednn::Compiled> compiled(const Graph& graph, const CompileOptions& options,
                                           KernelCandidates* candidates = nullptr) {
  const ThreadCount threads(options.threads);
  return onednn::compile_graph(graph, options, kernels::best(), candidates);
}

// Packed weights that lanes share. Programs of the same graph and options have the same layout.
struct SharedWeights {
  std::shared_ptr<std::byte> packed;
  LoadState loaded;
};

class OneDnnProgram final : public Program {
 public:
  // The first program created with `shared` allocates its memory.
  OneDnnProgram(const Graph& graph, const CompileOptions& options,
                std::shared_ptr<SharedWeights> shared)
      : graph_(graph),
        threads_(options.threads),
        shared_(std::move(shared)),
        compiled_(compiled(graph_, options)) {
    if (!shared_->packed) shared_->packed = onednn::make_block(compiled_->slots.shared_bytes());
    compiled_->slots.allocate(shared_->packed);
  }

  const Graph& graph() const noexcept override { return graph_; }

  void bind(ValueId id, std::span<float> data) override {
    bind(id, data.data(), data.size(), false);
  }
  void bind(ValueId id, std::span<std::uint8_t> data) override {
    bind(id, data.data(), data.size(), true);
  }

  void load_parameters(int part, int parts) override {
    check_part(part, parts);
    for (std::size_t i = 0; i < graph_.values.size(); ++i) {
      const ValueKind kind = graph_.values[i].kind;
      if (kind == ValueKind::kParameter || kind == ValueKind::kBuffer) check_bound(i);
    }
    const ThreadCount threads(threads_);
    const std::size_t bytes = compiled_->slots.shared_bytes();
    for (const onednn::Load& load : compiled_->load) {
      if (part_of(load.begin, load.end, bytes, parts) == part) load.call(threads_);
    }
    shared_->loaded.mark(part, parts);
  }

  void run(std::size_t first_node, std::size_t last_node) override {
    check_range(graph_, next_node_, first_node, last_node);
    if (first_node == 0) {
      shared_->loaded.check_complete();
      for (std::size_t i = 0; i < graph_.values.size(); ++i) check_bound(i);
    }
    const ThreadCount threads(threads_);
    for (std::size_t i = first_node; i < last_node; ++i) {
      for (const onednn::Call& call : compiled_->nodes[i]) call(threads_);
    }
    next_node_ = last_node;
  }

  KernelChoices choices() const override { return compiled_->choices; }
  std::vector<NodeKernel> node_kernels() const override { return compiled_->kernels; }

  std::size_t arena_bytes() const noexcept override {
    return compiled_->slots.block_bytes() + compiled_->slots.shared_bytes();
  }

 private:
  void bind(ValueId id, void* data, std::size_t size, bool bytes) {
    const bool known = id >= 0 && static_cast<std::size_t>(id) < graph_.values.size();
    const bool outside = known && compiled_->outside[static_cast<std::size_t>(id)].has_value();
    check_binding(graph_, id, outside, size, bytes);
    if (outside) compiled_->slots.bind(*compiled_->outside[static_cast<std::size_t>(id)], data);
  }

  void check_bound(std::size_t i) const {
    const auto& slot = compiled_->outside[i];
    if (slot && compiled_->slots.at(*slot) == nullptr) {
      throw_unbound(graph_.values[i]);
    }
  }

  const Graph graph_;
  const int threads_;
  const std::shared_ptr<SharedWeights> shared_;
  const std::unique_ptr<onednn::Compiled> compiled_;
  std::size_t next_node_ = 0;
};

struct NamedIsa {
  dnnl::cpu_isa isa;
  const char* name;
};
// From the most capable to the least.
constexpr NamedIsa kIsas[] = {
    {dnnl::cpu_isa::avx512_core_amx, "avx512_core_amx"},
    {dnnl::cpu_isa::avx512_core_bf16, "avx512_core_bf16"},
    {dnnl::cpu_isa::avx512_core_vnni, "avx512_core_vnni"},
    {dnnl::cpu_isa::avx512_core, "avx512_core"},
    {dnnl::cpu_isa::avx2_vnni, "avx2_vnni"},
    {dnnl::cpu_isa::avx2, "avx2"},
    {dnnl::cpu_isa::avx, "avx"},
    {dnnl::cpu_isa::sse41, "sse41"},
};

// Instruction sets are bit sets that include the bits of the sets they extend.
bool has(dnnl::cpu_isa here, dnnl::cpu_isa wanted) {
  return (static_cast<unsigned>(here) & static_cast<unsigned>(wanted)) ==
         static_cast<unsigned>(wanted);
}

std::string isa_name() {
  const dnnl::cpu_isa here = dnnl::get_effective_cpu_isa();
  for (const NamedIsa& row : kIsas) {
    if (has(here, row.isa)) return row.name;
  }
  return std::string(kernels::architecture());
}

class OneDnnBackend final : public Backend {
 public:
  std::string_view name() const noexcept override { return "onednn"; }
  std::string instruction_set() const override { return isa_name(); }
  std::string library() const override {
    const dnnl::version_t* version = dnnl::version();
    return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch);
  }

  std::unique_ptr<Program> compile(const Graph& graph, const CompileOptions& options) override {
    return std::move(compile_lanes(graph, options, 1).front());
  }

  std::vector<std::unique_ptr<Program>> compile_lanes(const Graph& graph,
                                                      const CompileOptions& options,
                                                      int lanes) override {
    check(options);
    const auto shared = std::make_shared<SharedWeights>();
    std::vector<std::unique_ptr<Program>> programs;
    for (int lane = 0; lane < lanes; ++lane) {
      programs.push_back(std::make_unique<OneDnnProgram>(graph, options, shared));
    }
    return programs;
  }

  MemoryUse memory_of(const Graph& graph, const CompileOptions& options) override {
    check(options);
    const auto made = compiled(graph, options);
    return {.lane_bytes = made->slots.block_bytes(),
            .scratch_bytes = made->slots.scratch_bytes(),
            .shared_bytes = made->slots.shared_bytes()};
  }

  KernelCandidates candidates_of(const Graph& graph, const CompileOptions& options) override {
    check(options);
    KernelCandidates candidates;
    compiled(graph, options, &candidates);
    return candidates;
  }

 private:
  static void check(const CompileOptions& options) {
    check_cpu_dtype(options.compute);
    if (options.compute == DType::kF16) {
      throw UsageError("the onednn backend cannot compute in f16: use bf16, or the cudnn backend");
    }
    if (options.threads < 1) {
      throw UsageError("a program needs at least 1 thread, not " + std::to_string(options.threads));
    }
    if (options.compute == DType::kBF16 &&
        !has(dnnl::get_effective_cpu_isa(), dnnl::cpu_isa::avx512_core)) {
      throw UsageError("this processor (" + isa_name() +
                       ") cannot train in bf16, which needs AVX-512: use f32");
    }
  }
};

}  // namespace

std::unique_ptr<Backend> make_onednn_backend() { return std::make_unique<OneDnnBackend>(); }

}  // namespace winnow::train
