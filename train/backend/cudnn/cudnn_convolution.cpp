#include <algorithm>
#include <array>
#include <utility>

#include "train/backend/cudnn/cuda_internal.h"
#include "train/backend/cudnn/cudnn_convolution_internal.h"

namespace winnow::train::cudnn {

// Products of several programs may run on different threads.
struct SharedHandle {
  std::mutex mutex;
  CudnnHandle handle;
};

namespace {

enum Tensor : std::int64_t { kImage = 1, kFilter, kResult };  // x or dx, w or dw, y or dy

cudnnDataType_t type_of(Element element) {
  if (element == Element::kF16) return CUDNN_DATA_HALF;
  return element == Element::kF32 ? CUDNN_DATA_FLOAT : CUDNN_DATA_BFLOAT16;
}

Descriptor tensor(Tensor id, Element type, const TensorLayout& layout) {
  constexpr std::int64_t kAlignment = 16;
  Descriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, static_cast<std::int64_t>(id))
      .set(CUDNN_ATTR_TENSOR_DATA_TYPE, type_of(type))
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kAlignment)
      .set_array<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS, layout.extents)
      .set_array<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES, layout.strides)
      .finalize();
  return tensor;
}

Descriptor window(const ConvolutionDescription& d) {
  const auto& [rows, columns] = d.extents.axes;
  const std::array<std::int64_t, 2> before{rows.before, columns.before};
  const std::array<std::int64_t, 2> after{rows.after, columns.after};
  const std::array<std::int64_t, 2> stride{rows.stride, columns.stride};
  const std::array<std::int64_t, 2> dilation{rows.dilation, columns.dilation};
  Descriptor window(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  window.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT)
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION)
      .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{2})
      .set_array<std::int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, before)
      .set_array<std::int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, after)
      .set_array<std::int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS, dilation)
      .set_array<std::int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, stride)
      .finalize();
  return window;
}

// Three operations have the same five attributes under different names.
struct OperationNames {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t image, filter, result, window, alpha, beta;
};

OperationNames names_of(Pass pass) {
  switch (pass) {
    case Pass::kBackwardData:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    case Pass::kBackwardFilter:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
    case Pass::kForward:
      break;
  }
  return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
}

// The tensors in the order of Product::run's a, b, result.
std::array<std::int64_t, 3> operands_of(Pass pass) {
  switch (pass) {
    case Pass::kForward:
      return {kImage, kFilter, kResult};
    case Pass::kBackwardData:
      return {kResult, kFilter, kImage};
    case Pass::kBackwardFilter:
      return {kImage, kResult, kFilter};
  }
  return {};
}

std::optional<EngineNote> note_of(cudnnBackendNumericalNote_t note) {
  switch (note) {
    case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
      return EngineNote::kTensorCore;
    case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
      return EngineNote::kDownConverts;
    case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
      return EngineNote::kReducedReduction;
    case CUDNN_NUMERICAL_NOTE_FFT:
      return EngineNote::kFft;
    case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
      return EngineNote::kNondeterministic;
    case CUDNN_NUMERICAL_NOTE_WINOGRAD:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13:
      return EngineNote::kWinograd;
    default:
      return std::nullopt;
  }
}

Descriptor engine_of(const Descriptor& config) {
  auto engines =
      config.get_descriptors(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  if (engines.empty()) throw CudnnError(CUDNN_STATUS_INTERNAL_ERROR, "ask cuDNN for an engine");
  return std::move(engines.front());
}

std::vector<EngineNote> notes_of(const Descriptor& engine) {
  std::vector<EngineNote> notes;
  for (const auto raw :
       engine.get_array<cudnnBackendNumericalNote_t>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE)) {
    if (const auto note = note_of(raw)) notes.push_back(*note);
  }
  return notes;
}

EngineConfig examine(Descriptor config) {
  const Descriptor engine = engine_of(config);
  return {.config = std::move(config),
          .engine = engine.get(CUDNN_ATTR_ENGINE_GLOBAL_INDEX),
          .notes = notes_of(engine)};
}

// Returns the result of `make`; nullopt if cuDNN does not support it.
template <class Make>
auto unless_unsupported(Make make) -> std::optional<decltype(make())> {
  try {
    return make();
  } catch (const CudnnError& error) {
    if (!error.is_unsupported()) throw;
    return std::nullopt;
  }
}

std::vector<Descriptor> ask_heuristics(cudnnBackendHeurMode_t mode, const OperationGraph& graph,
                                       const PlanTarget& target) {
  Descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph.graph)
      .set(CUDNN_ATTR_ENGINEHEUR_MODE, mode);
  if (target.properties != nullptr) {
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *target.properties);
  }
  heuristics.finalize();
  return heuristics.get_descriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                    CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
}

void set_target(Descriptor& plan, const PlanTarget& target) {
  if (target.properties != nullptr) {
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *target.properties);
  } else {
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, target.handle);
  }
}

std::string engine_name(std::int64_t engine) { return "cudnn engine " + std::to_string(engine); }

Plan finished(Descriptor descriptor) {
  descriptor.finalize();
  const auto configs = descriptor.get_descriptors(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                                                  CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  const Descriptor engine = engine_of(configs.at(0));
  const std::vector<EngineNote> notes = notes_of(engine);
  const auto workspace = descriptor.get(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
  return {.plan = std::move(descriptor),
          .workspace_bytes = static_cast<std::size_t>(workspace),
          .name = engine_name(engine.get(CUDNN_ATTR_ENGINE_GLOBAL_INDEX)),
          .tensor_cores = std::ranges::find(notes, EngineNote::kTensorCore) != notes.end()};
}

class CudnnConvolution final : public Product {
 public:
  CudnnConvolution(std::shared_ptr<SharedHandle> shared, Pass pass, Plan plan)
      : shared_(std::move(shared)), operands_(operands_of(pass)), plan_(std::move(plan)) {}

  std::size_t workspace_bytes() const noexcept override { return plan_.workspace_bytes; }
  std::string plan() const override { return plan_.name; }
  bool uses_tensor_cores() const override { return plan_.tensor_cores; }
  void run(Stream& stream, const void* a, const void* b, void* result,
           void* workspace) const override;

 private:
  using Pointers = std::array<void*, 4>;  // operands, result, workspace

  cudnnBackendDescriptor_t bound_to(const Pointers& pointers) const;

  std::shared_ptr<SharedHandle> shared_;
  std::array<std::int64_t, 3> operands_;
  Plan plan_;
  // The variant with the pointers of the last run, which are usually those of the next run. Guarded
  // by the mutex.
  mutable std::optional<Descriptor> variant_;
  mutable Pointers variant_pointers_{};
};

cudnnBackendDescriptor_t CudnnConvolution::bound_to(const Pointers& pointers) const {
  if (!variant_ || variant_pointers_ != pointers) {
    Descriptor variant(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    variant.set_array<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, operands_)
        .set_pointers(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, std::span(pointers).first<3>())
        .set_pointers(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, std::span(pointers).last<1>())
        .finalize();
    variant_ = std::move(variant);
    variant_pointers_ = pointers;
  }
  return variant_->native();
}

void CudnnConvolution::run(Stream& stream, const void* a, const void* b, void* result,
                           void* workspace) const {
  cudaStream_t native = static_cast<CudaStream&>(stream).native();
  const std::lock_guard lock(shared_->mutex);
  const auto variant = bound_to({const_cast<void*>(a), const_cast<void*>(b), result, workspace});
  check(cudnnSetStream(shared_->handle.get(), native), "give cuDNN a stream");
  check(cudnnBackendExecute(shared_->handle.get(), plan_.plan.native(), variant),
        "run a convolution by " + plan_.name);
}

}  // namespace

Descriptor make_card_properties(std::string_view json) {
  std::string text(json);
  text.push_back('\0');
  Descriptor properties(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  properties.set_array<char>(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, text).finalize();
  return properties;
}

OperationGraph describe(const ConvolutionDescription& d, const PlanTarget& target) {
  const auto type = [&](Pass computed_in) { return d.pass == computed_in ? d.result : d.type; };
  const ConvExtents& e = d.extents;
  std::vector<Descriptor> parts;
  parts.push_back(tensor(kImage, type(Pass::kBackwardData), nhwc(e.x.n, e.x.c, e.x.h, e.x.w)));
  parts.push_back(
      tensor(kFilter, type(Pass::kBackwardFilter), nhwc(e.y.c, e.filter_channels(), e.r, e.s)));
  parts.push_back(tensor(kResult, type(Pass::kForward), nhwc(e.y.n, e.y.c, e.y.h, e.y.w)));
  parts.push_back(window(d));

  const OperationNames names = names_of(d.pass);
  Descriptor operation(names.type);
  operation.set(names.image, parts[0])
      .set(names.filter, parts[1])
      .set(names.result, parts[2])
      .set(names.window, parts[3])
      .set(names.alpha, 1.0F)
      .set(names.beta, 0.0F)
      .finalize();
  parts.push_back(std::move(operation));

  Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, parts.back());
  if (target.handle != nullptr) graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, target.handle);
  graph.finalize();
  return {.parts = std::move(parts), .graph = std::move(graph)};
}

std::vector<EngineConfig> propose(const OperationGraph& graph, const PlanTarget& target) {
  std::vector<EngineConfig> out;
  for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    auto configs = unless_unsupported([&] { return ask_heuristics(mode, graph, target); });
    if (!configs) continue;
    for (Descriptor& config : *configs) {
      auto examined = unless_unsupported([&] { return examine(std::move(config)); });
      if (examined) out.push_back(std::move(*examined));
    }
  }
  return out;
}

std::optional<Plan> make_plan(const EngineConfig& config, const PlanTarget& target) {
  auto plan = unless_unsupported([&] {
    Descriptor descriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    set_target(descriptor, target);
    descriptor.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config.config);
    return finished(std::move(descriptor));
  });
  if (plan && plan->workspace_bytes > kMaxWorkspaceBytes) return std::nullopt;
  return plan;
}

std::optional<Plan> find_plan(const ConvolutionDescription& d, const PlanTarget& target,
                              const std::string* name) {
  const auto graph = unless_unsupported([&] { return describe(d, target); });
  if (!graph) return std::nullopt;
  for (const EngineConfig& config : propose(*graph, target)) {
    if (!may_compute(d, config.notes)) continue;
    if (name != nullptr && engine_name(config.engine) != *name) continue;
    if (auto plan = make_plan(config, target)) return plan;
  }
  return std::nullopt;
}

std::string to_json(const Plan& plan) {
  const auto text = plan.plan.get_array<char>(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION);
  return {text.begin(), text.end()};
}

std::optional<Plan> parse_plan(std::string_view json, const PlanTarget& target) {
  return unless_unsupported([&] {
    Descriptor descriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    descriptor.set_array<char>(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION,
                               {json.data(), json.size()});
    set_target(descriptor, target);
    return finished(std::move(descriptor));
  });
}

Convolutions::Convolutions(const Card& card)
    : handle_(std::make_shared<SharedHandle>()), cache_(default_plan_folder(card)) {
  handle_->handle = make_cudnn_handle();
}

std::unique_ptr<Product> Convolutions::make(const ConvolutionDescription& d,
                                            const std::string* name) {
  const std::lock_guard lock(handle_->mutex);
  const PlanTarget target{.handle = handle_->handle.get(), .properties = nullptr};
  const std::string key = to_string(d);
  std::optional<Plan> plan;
  if (const auto stored = cache_.find(key)) plan = parse_plan(*stored, target);
  if (plan && name != nullptr && plan->name != *name) plan.reset();
  if (!plan) {
    plan = find_plan(d, target, name);
    if (!plan) return nullptr;
    if (name == nullptr) cache_.store(key, to_json(*plan));
  }
  return std::make_unique<CudnnConvolution>(handle_, d.pass, std::move(*plan));
}

}  // namespace winnow::train::cudnn
