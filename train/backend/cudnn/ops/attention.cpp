#include "train/backend/lower/attention.h"

#include "train/backend/cudnn/ops/ops.h"

// Uses the library's products over all heads of all samples at once, and our own kernels between
// them. All scores are in memory at a time: batch * heads * tokens * tokens numbers.
namespace winnow::train::cudnn::ops {
namespace {

using train::kernels::AttentionLayer;
using Slot = Slots::Id;

class Emission {
 public:
  Emission(CudnnLowering& lowering, const AttentionLayer& layer)
      : lowering_(lowering), layer_(layer) {}

  // One matrix (tokens, width) for each head.
  Slot operand() { return scratch(layer_.batch * layer_.tokens * layer_.features, layer_.type); }
  // One matrix (tokens, tokens) for each head.
  Slot scores(Element type) { return scratch(rows() * layer_.tokens, type); }

  // Part `part` of data whose rows consist of `parts` parts, each with the features of all heads.
  Slot split(Slot data, std::int64_t part, std::int64_t parts) {
    const Slot made = operand();
    move(lowering_.table().split_heads, {data, made}, part, parts);
    return made;
  }
  void join(Slot matrices, Slot data, std::int64_t part, std::int64_t parts) {
    move(lowering_.table().join_heads, {data, matrices}, part, parts);
  }

  // (tokens, tokens) = a b^T, in f32.
  Slot product_of_rows(Slot a, Slot b) {
    const Slot made = scores(Element::kF32);
    MatmulDescription d = description(layer_.tokens, layer_.width());
    d.transpose_b = true;
    d.result = Element::kF32;
    lowering_.matmul("attention", d, {a, b, made});
    return made;
  }
  // (tokens, width) = a b, or a^T b.
  Slot product(Slot a, Slot b, bool transposed) {
    const Slot made = operand();
    MatmulDescription d = description(layer_.width(), layer_.tokens);
    d.transpose_a = transposed;
    d.result = layer_.type;
    lowering_.matmul("attention", d, {a, b, made});
    return made;
  }

  Slot shares(Slot q, Slot k) {
    const Slot x = product_of_rows(q, k);
    const Slot y = in_place_or_new(x);
    lowering_.kernel(
        lowering_.table().softmax, [=, layer = layer_, rows = rows()](const train::Slots& at) {
          return kernels::Softmax{layer.type,      rows,    layer.tokens, layer.factor(),
                                  at.as<float>(x), at.at(y)};
        });
    return y;
  }
  Slot gradient_of_scores(Slot shares, Slot dshares) {
    const Slot dx = in_place_or_new(dshares);
    lowering_.kernel(lowering_.table().softmax_backward, [=, layer = layer_,
                                                          rows = rows()](const train::Slots& at) {
      return kernels::SoftmaxBackward{layer.type,     rows,          layer.tokens,
                                      layer.factor(), at.at(shares), at.as<float>(dshares),
                                      at.at(dx)};
    });
    return dx;
  }

 private:
  struct Moved {
    Slot data, matrices;
  };

  std::int64_t heads() const { return layer_.batch * layer_.heads; }
  std::int64_t rows() const { return heads() * layer_.tokens; }

  Slot scratch(std::int64_t count, Element type) {
    return lowering_.slots().scratch(static_cast<std::size_t>(count) * bytes_of(type));
  }
  Slot in_place_or_new(Slot f32) {
    return layer_.type == Element::kF32 ? f32 : scores(layer_.type);
  }
  MatmulDescription description(std::int64_t n, std::int64_t k) const {
    return {.batch = heads(), .m = layer_.tokens, .n = n, .k = k};
  }
  void move(void (*kernel)(const kernels::Heads&, Stream&), const Moved& moved, std::int64_t part,
            std::int64_t parts) {
    const auto first = static_cast<std::size_t>(part * layer_.features) * bytes_of(layer_.type);
    lowering_.kernel(kernel, [=, layer = layer_](const train::Slots& at) {
      return kernels::Heads{.type = layer.type,
                            .batch = layer.batch,
                            .tokens = layer.tokens,
                            .heads = layer.heads,
                            .width = layer.width(),
                            .rows = at.as<std::byte>(moved.data) + first,
                            .row_stride = parts * layer.features,
                            .matrices = at.at(moved.matrices)};
    });
  }

  CudnnLowering& lowering_;
  const AttentionLayer layer_;
};

}  // namespace

void attention(CudnnLowering& lowering, const Node& node) {
  const AttentionLayer layer = attention_layer(lowering, node);
  const Slot x = lowering.read(node.inputs[0], layer.type);
  const Slot y = lowering.write(node.outputs[0], layer.type);
  Emission emit(lowering, layer);
  const Slot q = emit.split(x, 0, 3);
  const Slot k = emit.split(x, 1, 3);
  const Slot v = emit.split(x, 2, 3);
  emit.join(emit.product(emit.shares(q, k), v, false), y, 0, 1);
}

void attention_backward(CudnnLowering& lowering, const Node& node) {
  const AttentionLayer layer = attention_layer(lowering, node);
  const Slot x = lowering.read(node.inputs[0], layer.type);
  const Slot dy_rows = lowering.read(node.inputs[1], layer.type);
  const Slot dx = lowering.write(node.outputs[0], layer.type);
  Emission emit(lowering, layer);
  const Slot q = emit.split(x, 0, 3);
  const Slot k = emit.split(x, 1, 3);
  const Slot v = emit.split(x, 2, 3);
  const Slot dy = emit.split(dy_rows, 0, 1);
  const Slot shares = emit.shares(q, k);
  const Slot dscores = emit.gradient_of_scores(shares, emit.product_of_rows(dy, v));
  emit.join(emit.product(dscores, k, false), dx, 0, 3);
  emit.join(emit.product(dscores, q, true), dx, 1, 3);
  emit.join(emit.product(shares, dy, true), dx, 2, 3);
}

}  // namespace winnow::train::cudnn::ops
