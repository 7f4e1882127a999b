#include "train/backend/lower/dropout.h"

#include "train/backend/onednn/ops/ops_internal.h"

namespace winnow::train::onednn::ops {

void dropout(OneDnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().dropout, dropout_arguments(lowering, node));
}

}  // namespace winnow::train::onednn::ops
