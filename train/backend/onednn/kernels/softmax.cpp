#include "train/backend/onednn/kernels/base_internal.h"
#include "train/backend/onednn/kernels/exponential_internal.h"
#include "train/backend/onednn/kernels/functions_internal.h"

// In f32, one thread for each row. Sums are first by lanes, then across lanes in f64.
namespace winnow::train::kernels::WINNOW_ISA {
namespace {

// Calls f(first, lanes) for blocks that cover [0, columns) without overlap; the last may be short.
template <class Function>
void for_columns(Index columns, Function f) {
  for (Index c = 0; c < columns; c += kLanes) f(c, static_cast<int>(least(kLanes, columns - c)));
}

Floats first_values(const Floats& v, int lanes) {
  if (lanes == kLanes) return v;
  Floats kept = {};
  for (int i = 0; i < lanes; ++i) kept[i] = v[i];
  return kept;
}

float total(const Floats& v) {
  double sum = 0;
  for (int i = 0; i < kLanes; ++i) sum += static_cast<double>(v[i]);
  return static_cast<float>(sum);
}

float greatest_of(const float* x, Index columns) {
  Floats top = Floats{} + x[0];
  for_columns(columns, [&](Index c, int lanes) {
    Floats v = load_block(x + c, lanes);
    for (int i = lanes; i < kLanes; ++i) v[i] = x[0];
    top = v > top ? v : top;
  });
  float result = top[0];
  for (int i = 1; i < kLanes; ++i) result = top[i] > result ? top[i] : result;
  return result;
}

void softmax_row(const Softmax& a, Index row) {
  const float* x = a.x + row * a.columns;
  float* y = static_cast<float*>(a.y) + row * a.columns;
  const float top = greatest_of(x, a.columns);
  Floats sums = {};
  for_columns(a.columns, [&](Index c, int lanes) {
    const Floats v = exponential((load_block(x + c, lanes) - top) * a.factor);
    store_block(y + c, v, lanes);
    sums += first_values(v, lanes);
  });
  const float inverse = 1 / total(sums);
  for_columns(a.columns, [&](Index c, int lanes) {
    store_block(y + c, load_block(y + c, lanes) * inverse, lanes);
  });
}

void backward_row(const SoftmaxBackward& a, Index row) {
  const float* y = static_cast<const float*>(a.y) + row * a.columns;
  const float* dy = a.dy + row * a.columns;
  float* dx = static_cast<float*>(a.dx) + row * a.columns;
  Floats sums = {};
  for_columns(a.columns, [&](Index c, int lanes) {
    sums += load_block(y + c, lanes) * load_block(dy + c, lanes);
  });
  const float sum = total(sums);
  for_columns(a.columns, [&](Index c, int lanes) {
    const Floats v = load_block(y + c, lanes) * (load_block(dy + c, lanes) - sum) * a.factor;
    store_block(dx + c, v, lanes);
  });
}

}  // namespace

void softmax(const Softmax& a, int threads) {
  parallel_pieces(a.rows, greatest(1, kGrain / a.columns), threads, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) softmax_row(a, row);
  });
}

void softmax_backward(const SoftmaxBackward& a, int threads) {
  parallel_pieces(a.rows, greatest(1, kGrain / a.columns), threads, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) backward_row(a, row);
  });
}

}  // namespace winnow::train::kernels::WINNOW_ISA
