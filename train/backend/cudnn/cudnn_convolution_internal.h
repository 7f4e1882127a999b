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

// Convolutions by cuDNN's graph API: describes the operation as data, asks cuDNN's heuristics for
// engines (its kernels), and makes a plan for the first allowed engine that works.
namespace winnow::train::cudnn {

// The GPU for which plans are made: one that is present, by `handle`; or any model, by its
// `properties`. The other pointer is nullptr. Must outlive the plans.
struct PlanTarget {
  cudnnHandle_t handle = nullptr;
  const Descriptor* properties = nullptr;
};
// Parses the properties of a GPU from cuDNN's JSON.
Descriptor make_card_properties(std::string_view json);

struct OperationGraph {
  std::vector<Descriptor> parts;  // descriptors of the tensors, the convolution and the operation
  Descriptor graph;
};
OperationGraph describe(const ConvolutionDescription& description, const PlanTarget& target);

struct EngineConfig {
  Descriptor config;
  std::int64_t engine = 0;
  std::vector<EngineNote> notes;
};
// Returns the engines that cuDNN proposes, unfiltered: best first by its own estimate, its fallback
// engines last.
std::vector<EngineConfig> propose(const OperationGraph& graph, const PlanTarget& target);

struct Plan {
  Descriptor plan;
  std::size_t workspace_bytes = 0;
  std::string name;           // name of the engine, such as "cudnn engine 46"
  bool tensor_cores = false;  // cuDNN notes that this engine uses tensor cores
};
constexpr std::size_t kMaxWorkspaceBytes = std::size_t{256} << 20;

std::optional<Plan> make_plan(const EngineConfig& config, const PlanTarget& target);
// Makes a plan for a convolution. Returns nullopt if cuDNN has no engine that computes it as
// requested.
// name  The required Plan::name; nullptr: any.
std::optional<Plan> find_plan(const ConvolutionDescription& description, const PlanTarget& target,
                              const std::string* name = nullptr);

// Converts a plan to text and back, for plan_cache.h. nullopt: the text is no plan for this GPU and
// this version of cuDNN.
std::string to_json(const Plan& plan);
std::optional<Plan> parse_plan(std::string_view json, const PlanTarget& target);

// Makes the convolutions of one GPU. Its CUDA context must be current in the constructor and in
// make().
class Convolutions {
 public:
  explicit Convolutions(const Card& card);
  std::unique_ptr<Product> make(const ConvolutionDescription& description, const std::string* name);

 private:
  std::shared_ptr<struct SharedHandle> handle_;
  PlanCache cache_;
};

}  // namespace winnow::train::cudnn
