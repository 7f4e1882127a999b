// Prints which patterns of fused convolutions cuDNN has plans for, without a card: a row for each
// pattern, type and card, with how many of ResNet-50's layers have any plan and a deterministic
// one.
//
//   cudnn_patterns > docs/results/raw/cudnn-patterns.csv
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "tests/train/conformance.h"
#include "tests/train/cudnn/asked_for.h"
#include "tests/train/cudnn/patterns.h"
#include "train/backend/cudnn/compiled.h"

namespace winnow::train::cudnn {
namespace {

constexpr std::int64_t kBatch = 256;

// The forward convolutions of ResNet-50 behind a norm, each once: all but the first.
std::vector<ConvolutionDescription> layers(DType compute) {
  AskedFor device;
  compile_graph(training_graph("resnet50", kBatch, 224, 3), {.compute = compute}, device);
  std::vector<ConvolutionDescription> found;
  for (const auto& [name, d] : device.convolutions) {
    if (d.pass == Pass::kForward && d.extents.x.c > 3) found.push_back(d);
  }
  return found;
}

// How many layers have a plan, and by which engines.
struct Tally {
  int layers = 0;
  std::set<std::string> engines;

  void add(const std::optional<std::string>& plan) {
    if (!plan) return;
    ++layers;
    engines.insert(plan->substr(plan->rfind(' ') + 1));
  }
  std::string engine_names() const {
    std::string names;
    for (const std::string& engine : engines) names += (names.empty() ? "" : " ") + engine;
    return names;
  }
};

void print_row(Pattern pattern, DType compute, const SimulatedCard& card,
               const std::vector<ConvolutionDescription>& all) {
  const Descriptor properties = make_card_properties(card.properties);
  const PlanTarget target{.handle = nullptr, .properties = &properties};
  Tally any, deterministic;
  for (const ConvolutionDescription& layer : all) {
    const PatternPlans plans = find_pattern(pattern, layer, target);
    any.add(plans.any);
    deterministic.add(plans.deterministic);
  }
  std::printf("\"%s\",%s,%s,%zu,%d,%s,%d,%s\n", std::string(name_of(pattern)).c_str(),
              std::string(dtype_name(compute)).c_str(), card.name.c_str(), all.size(), any.layers,
              any.engine_names().c_str(), deterministic.layers,
              deterministic.engine_names().c_str());
  std::fflush(stdout);
}

}  // namespace
}  // namespace winnow::train::cudnn

int main() {
  using namespace winnow::train;
  std::puts("pattern,type,card,layers,any,engines,deterministic,deterministic engines");
  for (const DType compute : {DType::kF16, DType::kBF16}) {
    const auto all = cudnn::layers(compute);
    for (const cudnn::Pattern pattern : cudnn::patterns()) {
      for (const cudnn::SimulatedCard& card : cudnn::simulated_cards()) {
        cudnn::print_row(pattern, compute, card, all);
      }
    }
  }
}
