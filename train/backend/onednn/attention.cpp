#include <omp.h>

#include <atomic>
#include <cstdint>

#include "common/error.h"
#include "train/backend/onednn/attention_internal.h"
#include "train/backend/onednn/primitives_internal.h"

namespace winnow::train::onednn {
namespace {

using Index = std::int64_t;
using kernels::AttentionLayer;

// Padding between the scratch memory of two threads, in floats, so that they share no cache line.
constexpr Index kLine = 16;
constexpr Index aligned(Index count) { return (count + kLine - 1) / kLine * kLine; }

Index scores(const AttentionLayer& layer) { return aligned(layer.tokens * layer.tokens); }
Index operand(const AttentionLayer& layer) { return aligned(layer.tokens * layer.width()); }

// Scratch size of one thread, in floats. bf16 operands are converted into copies.
Index floats(const AttentionLayer& layer, Index matrices, Index operands) {
  const Index copies = layer.type == Element::kF32 ? 0 : operands;
  return matrices * scores(layer) + copies * operand(layer);
}
Index forward_floats(const AttentionLayer& layer) { return floats(layer, 1, 4); }
Index backward_floats(const AttentionLayer& layer) { return floats(layer, 2, 7); }

std::size_t bytes(Index floats, int threads) {
  return static_cast<std::size_t>(floats) * sizeof(float) * static_cast<std::size_t>(threads);
}

// One head of one sample, with the scratch memory of the thread that computes it.
class Head {
 public:
  Head(const AttentionLayer& layer, const kernels::Table& table, Index number, float* scratch)
      : layer_(layer),
        table_(table),
        sample_(number / layer.heads),
        first_(number % layer.heads * layer.width()),
        scratch_(scratch) {}

  Matrix scores() { return {take(onednn::scores(layer_)), layer_.tokens}; }
  // Part `part` of data whose rows consist of `parts` parts, each with the features of all heads.
  Matrix read(const void* data, Index part, Index parts) {
    if (layer_.type == Element::kF32) return rows(const_cast<void*>(data), part, parts);
    const Matrix made = copy();
    for (Index t = 0; t < layer_.tokens; ++t) {
      const std::uint16_t* from = bf16_row(const_cast<void*>(data), part, parts, t);
      table_.convert(
          {from, Element::kBf16, made.at + t * made.stride, Element::kF32, layer_.width()}, 1);
    }
    return made;
  }
  // The matrix in which to compute such a part; written() must follow.
  Matrix write(void* data, Index part, Index parts) {
    return layer_.type == Element::kF32 ? rows(data, part, parts) : copy();
  }
  void written(const Matrix& made, void* data, Index part, Index parts) const {
    if (layer_.type == Element::kF32) return;
    for (Index t = 0; t < layer_.tokens; ++t) {
      table_.convert({made.at + t * made.stride, Element::kF32, bf16_row(data, part, parts, t),
                      Element::kBf16, layer_.width()},
                     1);
    }
  }

 private:
  Index offset(Index part, Index parts, Index token) const {
    return ((sample_ * layer_.tokens + token) * parts + part) * layer_.features + first_;
  }
  Matrix rows(void* data, Index part, Index parts) const {
    return {static_cast<float*>(data) + offset(part, parts, 0), parts * layer_.features};
  }
  std::uint16_t* bf16_row(void* data, Index part, Index parts, Index token) const {
    return static_cast<std::uint16_t*>(data) + offset(part, parts, token);
  }
  Matrix copy() { return {take(operand(layer_)), layer_.width()}; }
  float* take(Index count) {
    float* taken = scratch_;
    scratch_ += count;
    return taken;
  }

  const AttentionLayer& layer_;
  const kernels::Table& table_;
  Index sample_;
  Index first_;  // index of its first feature
  float* scratch_;
};

Matrix transposed(const Matrix& m) { return {m.at, m.stride, true}; }

// The matrix products of one layer's heads.
struct Products {
  Index tokens, width;
  bool ok = true;

  // (tokens, tokens) = a b^T
  void scores(const Matrix& a, const Matrix& b, const Matrix& result) {
    ok = multiply(tokens, tokens, width, a, transposed(b), result) && ok;
  }
  // (tokens, width) = a b, with a or its transpose (tokens, tokens)
  void values(const Matrix& a, const Matrix& b, const Matrix& result) {
    ok = multiply(tokens, width, tokens, a, b, result) && ok;
  }
};

void softmax(const AttentionLayer& layer, const kernels::Table& table, const Matrix& scores) {
  table.softmax({Element::kF32, layer.tokens, layer.tokens, layer.factor(), scores.at, scores.at},
                1);
}

bool forward(const kernels::Attention& a, const kernels::Table& table, Index number,
             float* scratch) {
  Head head(a.layer, table, number, scratch);
  Products products{a.layer.tokens, a.layer.width()};
  const Matrix shares = head.scores();
  products.scores(head.read(a.x, 0, 3), head.read(a.x, 1, 3), shares);
  softmax(a.layer, table, shares);
  const Matrix y = head.write(a.y, 0, 1);
  products.values(shares, head.read(a.x, 2, 3), y);
  head.written(y, a.y, 0, 1);
  return products.ok;
}

bool backward(const kernels::AttentionBackward& a, const kernels::Table& table, Index number,
              float* scratch) {
  const AttentionLayer& layer = a.layer;
  Head head(layer, table, number, scratch);
  Products products{layer.tokens, layer.width()};
  const Matrix shares = head.scores();
  const Matrix dscores = head.scores();
  const Matrix q = head.read(a.x, 0, 3);
  const Matrix k = head.read(a.x, 1, 3);
  const Matrix dy = head.read(a.dy, 0, 1);
  products.scores(q, k, shares);
  softmax(layer, table, shares);
  products.scores(dy, head.read(a.x, 2, 3), dscores);
  table.softmax_backward({Element::kF32, layer.tokens, layer.tokens, layer.factor(), shares.at,
                          dscores.at, dscores.at},
                         1);
  const Matrix factors[] = {dscores, transposed(dscores), transposed(shares)};
  const Matrix operands[] = {k, q, dy};
  for (Index part = 0; part < 3; ++part) {
    const Matrix dx = head.write(a.dx, part, 3);
    products.values(factors[part], operands[part], dx);
    head.written(dx, a.dx, part, 3);
  }
  return products.ok;
}

// Calls one(number, scratch of `floats` numbers) for every head of every sample.
template <class One>
void for_heads(const AttentionLayer& layer, void* scratch, Index floats, int threads, One one) {
  std::atomic<bool> ok = true;
  const Index heads = layer.batch * layer.heads;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (Index number = 0; number < heads; ++number) {
    float* mine = static_cast<float*>(scratch) + omp_get_thread_num() * floats;
    if (!one(number, mine)) ok = false;
  }
  if (!ok) throw Error("oneDNN ran out of memory in a product of attention");
}

}  // namespace

std::size_t attention_scratch_bytes(const AttentionLayer& layer, int threads) {
  return bytes(forward_floats(layer), threads);
}

std::size_t attention_backward_scratch_bytes(const AttentionLayer& layer, int threads) {
  return bytes(backward_floats(layer), threads);
}

void run_attention(const kernels::Attention& a, const kernels::Table& table, int threads) {
  for_heads(a.layer, a.scratch, forward_floats(a.layer), threads,
            [&](Index number, float* scratch) { return forward(a, table, number, scratch); });
}

void run_attention_backward(const kernels::AttentionBackward& a, const kernels::Table& table,
                            int threads) {
  for_heads(a.layer, a.scratch, backward_floats(a.layer), threads,
            [&](Index number, float* scratch) { return backward(a, table, number, scratch); });
}

}  // namespace winnow::train::onednn
