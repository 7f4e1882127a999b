#pragma once

#include <cstdint>

#include "train/graph/operation.h"

namespace winnow::train {

// Multi-head scaled dot-product attention: PyTorch's MultiheadAttention without its input and
// output projections.
// Tokens  Data (N,D,T,1): N samples of T tokens with D features. The features of a token are
//         adjacent in memory. An image (N,D,H,W) has H*W tokens.
// Heads   Each head works on its own D / heads features.
// Source  Vaswani et al. 2017.

struct AttentionAttributes {
  std::int64_t heads = 1;  // number of heads; divides the number of features D
};

// Attention: x (N,3D,H,W) -> y (N,D,H,W)
// x holds query q, key k and value v of every token, in this order.
// y = softmax(q k^T / sqrt(D / heads)) v, for each head.
extern const Operation kAttention;

// Backward pass of attention: x, dy -> dx.
// The softmax is recomputed, because storing it would take T*T numbers for each head, while dy has
// only T*D.
extern const Operation kAttentionBackward;

}  // namespace winnow::train
