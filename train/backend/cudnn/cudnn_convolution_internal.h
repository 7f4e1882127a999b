#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "train/backend/cudnn/cudnn_descriptor_internal.h"
#include "train/backend/cudnn/device.h"
#include "train/backend/cudnn/engine_choice.h"
#include "train/backend/cudnn/plan_cache.h"

// Convolutions by cuDNN's graph API: the operation as data, the engines that cuDNN's heuristics
// propose, and a plan for the first allowed one that works.
namespace winnow::train::cudnn {

// The GPU for which plans are made: one that is present, by its handle; or one that need not be, by
// its properties. One of the two is nullptr. Must outlive the plans.
struct PlanTarget {
  cudnnHandle_t handle = nullptr;
  const Descriptor* properties = nullptr;
};
// Parses cuDNN's JSON of a GPU's properties.
Descriptor make_card_properties(std::string_view json);

struct OperationGraph {
  std::vector<Descriptor> parts;  // tensors, the convolution, the operation
  Descriptor graph;
};
OperationGraph describe(const ConvolutionDescription& description, const PlanTarget& target);

struct EngineConfig {
  Descriptor config;
  std::int64_t engine = 0;
  std::vector<EngineNote> notes;
};
// The engines that cuDNN proposes, best first by its own estimate; its fallback engines come last.
// Unfiltered.
std::vector<EngineConfig> propose(const OperationGraph& graph, const PlanTarget& target);

struct Plan {
  Descriptor plan;
  std::size_t workspace_bytes = 0;
  std::string name;           // "cudnn engine 46"
  bool tensor_cores = false;  // the engine's note
};
constexpr std::size_t kMaxWorkspaceBytes = std::size_t{256} << 20;

std::optional<Plan> make_plan(const EngineConfig& config, const PlanTarget& target);
// Returns nullopt if cuDNN has no engine that computes this as requested.
// `name`: the plan's name; nullptr: any.
std::optional<Plan> find_plan(const ConvolutionDescription& description, const PlanTarget& target,
                              const std::string* name = nullptr);

// A plan as text and back, for plan_cache.h. nullopt: not a plan for this target and this cuDNN.
std::string to_json(const Plan& plan);
std::optional<Plan> parse_plan(std::string_view json, const PlanTarget& target);

// The convolutions of one GPU. Its context must be current in the constructor and in make().
class Convolutions {
 public:
  explicit Convolutions(const Card& card);
  std::unique_ptr<Product> make(const ConvolutionDescription& description, const std::string* name);

 private:
  std::shared_ptr<struct SharedHandle> handle_;
  PlanCache cache_;
};

}  // namespace winnow::train::cudnn
