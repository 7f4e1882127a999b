#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "train/nets/builder.h"
#include "train/nets/squeeze_excite.h"

namespace winnow::train {

// Inverted residual blocks: a 1x1 convolution that widens, a depthwise convolution, squeeze and
// excite, and a 1x1 convolution back. If the shape does not change, there is a shortcut.
// Names   Parts are numbered under one name, as in torchvision: "features.3.block.0.0" is a
//         convolution, "features.3.block.0.1" its batch norm.
// Source  Sandler et al. 2018.

using Activate = std::function<ValueId(NetBuilder& net, const std::string& name, ValueId x)>;

// A convolution without bias, named "<name>.0", its batch norm "<name>.1", and optionally an
// activation "<name>.2".
struct ConvNorm {
  NetBuilder::Conv conv;
  int groups = 1;
  double epsilon = 1e-5;  // epsilon of the batch norm
  Activate activate = {};
};
ValueId conv_norm_activation(NetBuilder& net, const std::string& name, ValueId x,
                             const ConvNorm& layer);

struct InvertedResidual {
  std::int64_t widened = 1;  // number of channels of the depthwise convolution
  std::int64_t filters = 1;
  int kernel = 3;
  int stride = 1;
  double epsilon = 1e-5;
  double drop_path = 0;
  Activate activate = {};
  std::optional<SqueezeExcite> squeeze = {};
  // Whether the last convolution and its batch norm are numbered as separate parts, as in
  // torchvision's MobileNetV2.
  bool flat = false;
};
ValueId inverted_residual(NetBuilder& net, const std::string& name, ValueId x,
                          const InvertedResidual& shape);

}  // namespace winnow::train
