#include "tests/gpu/predict.h"

#include <algorithm>
#include <cstdio>
#include <ostream>
#include <string_view>

#include "tests/train/conformance.h"
#include "train/graph/operation.h"

namespace winnow::gpu {

using namespace winnow::train;

namespace {

double bytes_of_value(const Value& value, DType dtype) {
  const std::size_t each = value.storage == Storage::kU8        ? 1
                           : value.storage == Storage::kCompute ? bytes_of(dtype)
                                                                : 4;
  return static_cast<double>(element_count(value.shape)) * static_cast<double>(each);
}

// How often a kernel reads its input `at`.
int reads(std::string_view op, std::size_t at) {
  if (op == "batch_norm") return at == 0 ? 2 : 1;  // x, and not the skip
  return op == "batch_norm_backward" ? 2 : 1;
}

double rate(const Peaks& card, DType dtype) {
  if (bytes_of(dtype) == 2) return card.half;
  return dtype == DType::kTf32 ? card.tf32 : card.f32;
}

const char* kind_of(std::string_view op) {
  if (op.starts_with("conv2d") || op.starts_with("linear")) return "convolutions";
  return op.starts_with("batch_norm") ? "norms" : "other";
}

struct Net {
  const char* name;
  std::int64_t batch;
  int side;
};
constexpr Net kNets[] = {{"resnet50", 256, 224}, {"resnet20", 1024, 32}};

}  // namespace

std::span<const Peaks> peaks() {
  static constexpr Peaks kCards[] = {{"H100", 3.35e12, 67e12, 494.5e12, 989e12},
                                     {"H200", 4.8e12, 67e12, 494.5e12, 989e12},
                                     {"A100", 1.555e12, 19.5e12, 156e12, 312e12}};
  return kCards;
}

Cost cost_of(const Graph& graph, const Node& node, DType dtype) {
  Cost cost;
  const std::string_view op = op_name(node.op);
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    cost.bytes += reads(op, i) * bytes_of_value(graph.value(node.inputs[i]), dtype);
  }
  for (const ValueId id : node.outputs) cost.bytes += bytes_of_value(graph.value(id), dtype);
  if (node.op->multiply_adds != nullptr) {
    cost.operations = 2 * node.op->multiply_adds(graph, node);
  }
  return cost;
}

double seconds(const Cost& cost, const Peaks& card, DType dtype) {
  return std::max(cost.bytes / card.bytes_per_second, cost.operations / rate(card, dtype));
}

std::map<std::string, double> step_seconds(const Graph& graph, const Peaks& card, DType dtype) {
  std::map<std::string, double> kinds;
  for (const Node& node : graph.nodes) {
    kinds[kind_of(op_name(node.op))] += seconds(cost_of(graph, node, dtype), card, dtype);
  }
  return kinds;
}

void print_prediction(std::ostream& out) {
  out << "| net, batch, bf16 | card | convolutions, ms | norms, ms | other, ms | all, ms | "
         "images/s "
         "at the peaks |\n|---|---|---|---|---|---|---|\n";
  for (const Net& net : kNets) {
    const Graph graph = training_graph(net.name, net.batch, net.side, 3);
    for (const Peaks& card : peaks()) {
      auto kinds = step_seconds(graph, card, DType::kBF16);
      const double all = kinds["convolutions"] + kinds["norms"] + kinds["other"];
      char line[256];
      std::snprintf(line, sizeof line, "| %s, %lld | %s | %.1f | %.1f | %.1f | %.1f | %.0f |\n",
                    net.name, static_cast<long long>(net.batch), card.name,
                    1e3 * kinds["convolutions"], 1e3 * kinds["norms"], 1e3 * kinds["other"],
                    1e3 * all, static_cast<double>(net.batch) / all);
      out << line;
    }
  }
}

}  // namespace winnow::gpu
