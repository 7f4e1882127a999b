#include <algorithm>
#include <cstdint>
#include <string>

#include "common/error.h"
#include "train/backend/cudnn/ops/ops.h"
#include "train/backend/lower/node_arguments.h"

namespace winnow::train::cudnn::ops {

void normalize_input(CudnnLowering& lowering, const Node& node) {
  const PixelScale scale = pixel_scale(node);
  const std::size_t channels = scale.factor.size();
  if (channels > kernels::Normalize::kMaxChannels) {
    throw Error("cudnn: '" + node.name + "' normalises images of " + std::to_string(channels) +
                " channels, but at most " + std::to_string(kernels::Normalize::kMaxChannels) +
                " can be normalised");
  }
  kernels::Normalize made{};
  made.type = lowering.element(node.outputs[0]);
  made.count = lowering.count(node.outputs[0]);
  made.channels = static_cast<int>(channels);
  std::ranges::copy(scale.factor, made.factor);
  std::ranges::copy(scale.offset, made.offset);
  const Slots::Id x = lowering.home(node.inputs[0]);
  const Slots::Id y = lowering.write(node.outputs[0], made.type);
  lowering.kernel(lowering.table().normalize, [=](const train::Slots& at) {
    kernels::Normalize a = made;
    a.pixels = at.as<std::uint8_t>(x);
    a.y = at.at(y);
    return a;
  });
}

}  // namespace winnow::train::cudnn::ops
