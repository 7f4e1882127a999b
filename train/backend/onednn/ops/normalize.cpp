#include <cstdint>
#include <numeric>
#include <vector>

#include "train/backend/lower/node_arguments.h"
#include "train/backend/onednn/ops/ops_internal.h"

namespace winnow::train::onednn::ops {

void normalize_input(OneDnnLowering& lowering, const Node& node) {
  const PixelScale scale = pixel_scale(node);
  const std::size_t channels = scale.factor.size();
  const std::size_t pattern = std::lcm(channels, std::size_t{kernels::kLanes});
  std::vector<float> table(2 * pattern);
  for (std::size_t i = 0; i < pattern; ++i) {
    table[i] = scale.factor[i % channels];
    table[pattern + i] = scale.offset[i % channels];
  }
  const Element type = lowering.element(node.outputs[0]);
  const Slots::Id x = lowering.home(node.inputs[0]);
  const Slots::Id y = lowering.write(node.outputs[0], type);
  lowering.kernel(lowering.table().normalize, [=, count = lowering.count(node.outputs[0]),
                                               table = std::move(table)](const train::Slots& at) {
    return kernels::Normalize{at.as<std::uint8_t>(x),   type, at.at(y), count, table.data(),
                              static_cast<int>(pattern)};
  });
}

}  // namespace winnow::train::onednn::ops
