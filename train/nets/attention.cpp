#include "train/nets/attention.h"

#include "train/nets/pointwise.h"
#include "train/ops/attention.h"
#include "train/ops/conv2d.h"

namespace winnow::train {

ValueId self_attention(NetBuilder& net, const std::string& name, ValueId x, std::int64_t heads) {
  const std::int64_t d = net.channels(x);
  const ValueId weight = net.weight(name + ".in_proj_weight", {3 * d, d}, Init::kXavierUniform);
  const ValueId bias =
      net.vector(name + ".in_proj_bias", 3 * d, ValueKind::kParameter, Init::kZeros);
  ConvAttributes with_bias;
  with_bias.bias = true;
  ValueId y = net.add_layer(kConv2d, name + ".in_proj", {x, weight, bias}, with_bias);
  y = net.add_layer(kAttention, name, {y}, AttentionAttributes{heads});
  return pointwise(net, name + ".out_proj", y, d, {.bias_init = Init::kZeros});
}

}  // namespace winnow::train
