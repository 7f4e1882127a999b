#include "train/backend/lower/attention.h"

#include "train/backend/onednn/attention_internal.h"
#include "train/backend/onednn/ops/ops_internal.h"

namespace winnow::train::onednn::ops {

void attention(OneDnnLowering& lowering, const Node& node) {
  const kernels::AttentionLayer layer = attention_layer(lowering, node);
  const auto x = lowering.read(node.inputs[0], layer.type);
  const auto y = lowering.write(node.outputs[0], layer.type);
  const auto scratch = lowering.slots().scratch(attention_scratch_bytes(layer, lowering.threads()));
  lowering.call([=, at = &lowering.slots(), table = &lowering.table()](int threads) {
    run_attention({layer, at->at(x), at->at(y), at->at(scratch)}, *table, threads);
  });
}

void attention_backward(OneDnnLowering& lowering, const Node& node) {
  const kernels::AttentionLayer layer = attention_layer(lowering, node);
  const auto x = lowering.read(node.inputs[0], layer.type);
  const auto dy = lowering.read(node.inputs[1], layer.type);
  const auto dx = lowering.write(node.outputs[0], layer.type);
  const auto scratch =
      lowering.slots().scratch(attention_backward_scratch_bytes(layer, lowering.threads()));
  lowering.call([=, at = &lowering.slots(), table = &lowering.table()](int threads) {
    run_attention_backward({layer, at->at(x), at->at(dy), at->at(dx), at->at(scratch)}, *table,
                           threads);
  });
}

}  // namespace winnow::train::onednn::ops
