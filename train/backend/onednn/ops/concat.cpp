#include "train/backend/lower/concat.h"

#include <utility>

#include "train/backend/onednn/ops/ops_internal.h"

namespace winnow::train::onednn::ops {

void concat(OneDnnLowering& lowering, const Node& node) {
  for (auto& fill : concat_arguments(lowering, node)) {
    lowering.kernel(lowering.table().copy_channels, std::move(fill));
  }
}

void slice(OneDnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().copy_channels, slice_arguments(lowering, node));
}

}  // namespace winnow::train::onednn::ops
