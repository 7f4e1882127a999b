#include <algorithm>

#include "train/backend/cudnn/compiled.h"
#include "train/backend/cudnn/lowering.h"
#include "train/backend/cudnn/ops/ops.h"

namespace winnow::train::cudnn {
namespace {

// Lists the transfers between host and device, and the nodes that write them.
void add_crossings(const CudnnLowering& lowering, Compiled& out) {
  const std::size_t values = lowering.graph().values.size();
  out.inputs.resize(values);
  out.parameters.resize(values);
  out.outputs.resize(values);
  for (std::size_t i = 0; i < values; ++i) {
    const auto id = static_cast<ValueId>(i);
    if (!lowering.outside(id)) continue;
    const Crossing crossing{*lowering.outside(id), lowering.outside_bytes(id), out.staging_bytes};
    out.staging_bytes += aligned(crossing.bytes);
    const bool is_computed = lowering.value(id).kind == ValueKind::kComputed;
    (is_computed              ? out.outputs
     : lowering.is_weight(id) ? out.parameters
                              : out.inputs)[i] = crossing;
  }
}

}  // namespace

void Slots::allocate(Device& device) {
  block_ = device.allocate(std::max(block_bytes() + shared_bytes(), kAlignment));
  place(block_.get(), block_.get() + block_bytes());
}

std::unique_ptr<Compiled> compile_graph(const Graph& graph, const CompileOptions& options,
                                        Device& device) {
  auto out = std::make_unique<Compiled>();
  CudnnLowering lowering(graph, options, device, *out);
  add_crossings(lowering, *out);
  out->written_by.resize(graph.values.size(), 0);
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.outputs) {
      out->written_by[static_cast<std::size_t>(id)] = out->nodes.size();
    }
    const auto emit = find_emitter(emitters(), "cudnn", node);
    out->nodes.push_back(lowering.calls_of(lowering, node, emit));
  }
  return out;
}

}  // namespace winnow::train::cudnn
