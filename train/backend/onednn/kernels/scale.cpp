#include "train/backend/onednn/kernels/base_internal.h"
#include "train/backend/onednn/kernels/functions_internal.h"

// Sums are in f64. One thread sums a whole sample, so the bits are the same for any number of
// threads.
namespace winnow::train::kernels::WINNOW_ISA {
namespace {

template <class T>
void scale_typed(const Scale& a, int threads) {
  const ScaleLayer layer = a.layer;
  const Index rows_each = greatest(1, kGrain / layer.channels);
  parallel_pieces(layer.batch * layer.pixels, rows_each, threads, [=](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      const float* factor = a.factor + (layer.by_sample ? row / layer.pixels * layer.channels : 0);
      const T* x = static_cast<const T*>(a.x) + row * layer.channels;
      T* y = static_cast<T*>(a.y) + row * layer.channels;
      for_blocks(layer.channels, [=](Index c, int lanes) {
        store_block(y + c, load_block(x + c, lanes) * load_block(factor + c, lanes), lanes);
      });
    }
  });
}

// Sums sample `n` over its pixels.
template <class T>
void sum_sample(const ScaleFactorGradient& a, Index n, double* sums) {
  const Index from = n * a.layer.pixels * a.layer.channels;
  const T* x = static_cast<const T*>(a.x) + from;
  const T* dy = static_cast<const T*>(a.dy) + from;
  for_blocks(a.layer.channels, [=](Index c, int lanes) {
    Doubles sum = {};
    for (Index p = 0; p < a.layer.pixels; ++p) {
      const Index at = p * a.layer.channels + c;
      sum += wide(load_block(x + at, lanes)) * wide(load_block(dy + at, lanes));
    }
    store_vector(sums + c, sum);
  });
}

template <class T>
void factor_gradient_typed(const ScaleFactorGradient& a, int threads) {
  const ScaleLayer layer = a.layer;
  auto* sums = static_cast<double*>(a.scratch);
  const Index places = padded(layer.channels);
  parallel_pieces(layer.batch, 1, threads, [=](Index n, Index) {
    sum_sample<T>(a, n, sums + n * places);
    for (Index c = 0; layer.by_sample && c < layer.channels; ++c) {
      a.dfactor[n * layer.channels + c] = static_cast<float>(sums[n * places + c]);
    }
  });
  if (layer.by_sample) return;
  for (Index c = 0; c < layer.channels; ++c) {
    double sum = 0;
    for (Index n = 0; n < layer.batch; ++n) sum += sums[n * places + c];
    a.dfactor[c] = static_cast<float>(sum);
  }
}

}  // namespace

void scale(const Scale& a, int threads) {
  typed<Scale, scale_typed<float>, scale_typed<Bf16>>(a, threads);
}

void scale_factor_gradient(const ScaleFactorGradient& a, int threads) {
  typed<ScaleFactorGradient, factor_gradient_typed<float>, factor_gradient_typed<Bf16>>(a, threads);
}

}  // namespace winnow::train::kernels::WINNOW_ISA
