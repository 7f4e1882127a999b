#pragma once

#include <cstdint>

#include "train/graph/operation.h"

namespace winnow::train {

// Scaled dot-product attention of several heads, each over its share of the features (Vaswani et
// al. 2017), PyTorch's MultiheadAttention between its two projections.
// Tokens are data (N,D,T,1): T tokens of D features, each token's features side by side in memory.
// Any image (N,D,H,W) has H*W tokens.

struct AttentionAttributes {
  std::int64_t heads = 1;  // divides D
};

// x (N,3D,H,W): queries, keys and values of every token one behind the other -> y (N,D,H,W)
// y = softmax(q k^T / sqrt(D / heads)) v, head by head.
extern const Operation kAttention;

// x, dy -> dx. The softmax is computed once more: it is T*T numbers a head, dy is T*D.
extern const Operation kAttentionBackward;

}  // namespace winnow::train
