#include "tests/gpu/plans.h"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

#include "tests/train/cases.h"
#include "tests/train/conformance.h"
#include "train/backend/cudnn/cudnn.h"

namespace winnow::gpu {

using namespace winnow::train;

namespace {

constexpr double kTimesF32 = 10;  // minimum ratio of tf32's error to f32's; tf32 has 13 bits less
constexpr std::string_view kDeterministic = " deterministic";
constexpr std::size_t kMostNamed = 8;

enum Pass : std::size_t { kForward, kData, kFilter, kPasses };
constexpr const char* kPassNames[] = {"forward", "data gradient", "filter gradient"};

Pass pass_of(std::string_view name) {
  if (name.find("_backward_data") != std::string_view::npos) return kData;
  return name.find("_backward_filter") != std::string_view::npos ? kFilter : kForward;
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

void add(std::string& list, const std::string& more) { list += (list.empty() ? "" : "; ") + more; }

// The fault of a layer on tensor cores; empty: none.
std::string fault_of(const RoundedLayer& layer) {
  const double limit = tolerance(DType::kTf32);
  const auto says = [&](const std::string& what) {
    return layer.name + ": tf32 is " + short_number(layer.tf32_error) + " away, " + what;
  };
  if (!(layer.tf32_error > kTimesF32 * layer.f32_error)) {
    return says("f32 " + short_number(layer.f32_error) + ": nothing was rounded");
  }
  if (!(layer.tf32_error <= limit)) return says(short_number(limit) + " is allowed");
  return "";
}

}  // namespace

Plans plans_of(const std::vector<MadeProduct>& made) {
  Plans plans;
  for (const MadeProduct& product : made) {
    std::string layer = product.layer;
    if (layer.ends_with(kDeterministic)) layer.resize(layer.size() - kDeterministic.size());
    plans[layer] = product.plan;
  }
  return plans;
}

std::string in_words(const Plans& plans) {
  std::map<std::string, int> layers;
  for (const auto& [layer, plan] : plans) ++layers[plan];
  std::string text;
  for (const auto& [plan, count] : layers) {
    text += (text.empty() ? "" : ", ") + plan + ": " + std::to_string(count);
  }
  return text.empty() ? "none" : text;
}

std::string compared(const Plans& any, const Plans& deterministic) {
  std::size_t others = 0;
  std::string named;
  for (const auto& [layer, plan] : deterministic) {
    const auto found = any.find(layer);
    if (found != any.end() && found->second == plan) continue;
    if (++others > kMostNamed) continue;
    add(named, layer + " by " + plan + ", not " + (found == any.end() ? "any" : found->second));
  }
  const std::string all = std::to_string(deterministic.size()) + " layers";
  if (others == 0) return "the same for all " + all;
  return "others for " + std::to_string(others) + " of " + all + ": " + named;
}

Verdict judge_tf32(std::span<const RoundedLayer> layers) {
  Verdict verdict;
  bool seen[kPasses] = {};
  for (const RoundedLayer& layer : layers) {
    if (!layer.tensor_cores) continue;
    seen[pass_of(layer.name)] = true;
    const std::string fault = fault_of(layer);
    if (!fault.empty()) add(verdict.note, fault);
  }
  for (std::size_t pass = 0; pass < kPasses; ++pass) {
    if (!seen[pass])
      add(verdict.note, std::string("no plan for tensor cores: ") + kPassNames[pass]);
  }
  verdict.passed = verdict.note.empty();
  return verdict;
}

std::vector<RoundedLayer> tf32_layers(std::shared_ptr<cudnn::Device> device) {
  const auto recorder = std::make_shared<RecordingDevice>(std::move(device));
  const auto backend = make_cudnn_backend(recorder);
  std::vector<RoundedLayer> layers;
  for (const OpCase& made : wide_product_cases()) {
    RoundedLayer layer{.name = made.name};
    layer.f32_error = compare_case(*backend, {.compute = DType::kF32}, made).front().error;
    recorder->take();
    layer.tf32_error = compare_case(*backend, {.compute = DType::kTf32}, made).front().error;
    layer.tensor_cores = std::ranges::any_of(recorder->take(), &MadeProduct::tensor_cores);
    layers.push_back(std::move(layer));
  }
  return layers;
}

}  // namespace winnow::gpu
