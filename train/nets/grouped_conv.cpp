#include "train/nets/grouped_conv.h"

#include <algorithm>
#include <utility>

#include "train/ops/grouped_conv2d.h"

namespace winnow::train {

ValueId grouped_conv(NetBuilder& net, const std::string& name, ValueId x,
                     const NetBuilder::Conv& conv, int groups) {
  // A number of groups that does not divide the channels is rejected below.
  const std::int64_t channels =
      net.channels(x) / std::clamp<std::int64_t>(groups, 1, net.channels(x));
  const Shape filter = {conv.filters, channels, conv.kernel, conv.kernel};
  std::vector<ValueId> inputs = {x, net.weight(name + ".weight", filter, conv.init)};
  if (conv.bias) {
    inputs.push_back(net.vector(name + ".bias", conv.filters, ValueKind::kParameter, conv.bias_init,
                                channels * conv.kernel * conv.kernel));
  }
  GroupedConvAttributes attributes;
  attributes.axes = both_axes(conv.stride, conv.pad, conv.dilation);
  attributes.bias = conv.bias;
  attributes.groups = groups;
  return net.add_layer(kGroupedConv2d, name, std::move(inputs), attributes);
}

ValueId conv_in_groups(NetBuilder& net, const std::string& name, ValueId x,
                       const NetBuilder::Conv& conv, int groups) {
  return groups == 1 ? net.conv(name, x, conv) : grouped_conv(net, name, x, conv, groups);
}

}  // namespace winnow::train
