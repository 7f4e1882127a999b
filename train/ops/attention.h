#pragma once

#include <cstdint>

#include "train/graph/operation.h"

namespace winnow::train {

// Multi-head scaled dot-product attention: PyTorch's MultiheadAttention without its two
// projections.
// Tokens  Data (N,D,T,1): T tokens of D features, the features of a token adjacent in memory. An
//         image (N,D,H,W) has H*W tokens.
// Heads   Each head works on its own D / heads features.
// Source  Vaswani et al. 2017.

struct AttentionAttributes {
  std::int64_t heads = 1;  // divides D
};

// x (N,3D,H,W) -> y (N,D,H,W)
// x holds query, key and value of every token, in this order.
// y = softmax(q k^T / sqrt(D / heads)) v, for each head.
extern const Operation kAttention;

// x, dy -> dx.
// The softmax is recomputed, because storing it would take T*T numbers a head, while dy has T*D.
extern const Operation kAttentionBackward;

}  // namespace winnow::train
