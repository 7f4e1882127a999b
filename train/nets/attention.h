#pragma once

#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// Adds self-attention over tokens x (N,D,T,1), for N samples of T tokens with D features: PyTorch's
// MultiheadAttention(D, heads).
// Parameters  PyTorch's names: NAME.in_proj_weight, NAME.in_proj_bias, NAME.out_proj.weight,
//             NAME.out_proj.bias.
ValueId self_attention(NetBuilder& net, const std::string& name, ValueId x, std::int64_t heads);

}  // namespace winnow::train
