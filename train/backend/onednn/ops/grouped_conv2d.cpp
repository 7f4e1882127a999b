#include "train/ops/grouped_conv2d.h"

#include "train/backend/onednn/ops/convolution_internal.h"
#include "train/backend/onednn/ops/ops_internal.h"

namespace winnow::train::onednn::ops {
namespace {

void emit(OneDnnLowering& lowering, const Node& node, Pass pass) {
  const ConvAttributes& attributes = attributes_of<GroupedConvAttributes>(node);
  emit_convolution(lowering, node, {"grouped_conv2d", pass, attributes});
}

}  // namespace

void grouped_conv2d(OneDnnLowering& lowering, const Node& node) {
  emit(lowering, node, Pass::kForward);
}

void grouped_conv2d_backward_data(OneDnnLowering& lowering, const Node& node) {
  emit(lowering, node, Pass::kBackwardData);
}

void grouped_conv2d_backward_filter(OneDnnLowering& lowering, const Node& node) {
  emit(lowering, node, Pass::kBackwardFilter);
}

}  // namespace winnow::train::onednn::ops
