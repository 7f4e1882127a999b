#include "train/backend/onednn/compiled_internal.h"
#include "train/backend/onednn/lowering_internal.h"
#include "train/backend/onednn/ops/ops_internal.h"

namespace winnow::train::onednn {

std::unique_ptr<Compiled> compile_graph(const Graph& graph, const CompileOptions& options,
                                        const kernels::Table& table, KernelCandidates* candidates) {
  auto out = std::make_unique<Compiled>();
  out->candidates = candidates;
  OneDnnLowering lowering(graph, options, table, *out);
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    out->outside.push_back(lowering.outside(static_cast<ValueId>(i)));
  }
  for (const Node& node : graph.nodes) {
    const auto emit = find_emitter(emitters(), "onednn", node);
    out->nodes.push_back(lowering.calls_of(lowering, node, emit));
    out->kernels.push_back({lowering.take_layer(), out->slots.node_scratch_bytes()});
  }
  return out;
}

}  // namespace winnow::train::onednn
