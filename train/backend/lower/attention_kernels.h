#pragma once

#include <cstdint>

#include "train/backend/lower/kernel_arguments.h"

// Arguments of the kernels of attention, see train/ops/attention.h.
namespace winnow::train::kernels {

struct AttentionLayer {
  Element type;  // element type of x, y and their gradients
  std::int64_t batch, tokens, features, heads;
  std::int64_t width() const { return features / heads; }
  float factor() const;  // scale of the attention scores, 1 / sqrt(width)
};

struct Attention {
  AttentionLayer layer;
  const void* x;  // rows of 3 * features elements: queries, keys, values
  void* y;        // rows of features elements
  void* scratch;
};

struct AttentionBackward {
  AttentionLayer layer;
  const void* x;
  const void* dy;
  void* dx;
  void* scratch;
};

// Softmax of each row: y = exp(factor * x) / sum of exp(factor * x). y may be x.
struct Softmax {
  Element type;  // element type of y
  std::int64_t rows, columns;
  float factor;  // > 0
  const float* x;
  void* y;
};

// Backward pass of Softmax for each row: dx = factor * y * (dy - sum of y * dy). dx may be dy.
struct SoftmaxBackward {
  Element type;  // element type of y and dx
  std::int64_t rows, columns;
  float factor;
  const void* y;
  const float* dy;
  void* dx;
};

}  // namespace winnow::train::kernels
