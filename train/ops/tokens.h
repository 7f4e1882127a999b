#pragma once

#include <cstdint>

#include "train/graph/operation.h"

namespace winnow::train {

// Tokens of a vision transformer, as data (N,D,T,1), see attention.h.
// N samples, D features, H W patches of an image, T = 1 + H*W tokens.
// Source  Dosovitskiy et al. 2021.

// Makes tokens: x (N,D,H,W), class token (1,1,D), position embedding (1,T,D) -> y (N,D,T,1)
// Places the class token before the patches, and adds the embedding of each position.
extern const Operation kTokens;

struct TokensAttributes {
  std::int64_t height = 1, width = 1;  // for kTokensBackward: height and width of dx in patches
};
// Backward pass of kTokens: dy -> dx, gradients of the class token and of the position embedding
extern const Operation kTokensBackward;

// Selects the class token: x (N,D,T,1) -> y (N,D)
extern const Operation kSelectToken;

struct SelectTokenAttributes {
  std::int64_t tokens = 1;  // for kSelectTokenBackward: number of tokens of dx
};
// Backward pass of kSelectToken: dy -> dx, which is 0 except at the class token
extern const Operation kSelectTokenBackward;

}  // namespace winnow::train
