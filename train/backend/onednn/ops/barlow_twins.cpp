#include "train/backend/lower/barlow_twins.h"

#include "train/backend/onednn/ops/ops_internal.h"

namespace winnow::train::onednn::ops {

void barlow_twins(OneDnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().barlow_twins, barlow_twins_arguments(lowering, node));
}

void barlow_twins_backward(OneDnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().barlow_twins_backward,
                  barlow_twins_backward_arguments(lowering, node));
}

}  // namespace winnow::train::onednn::ops
