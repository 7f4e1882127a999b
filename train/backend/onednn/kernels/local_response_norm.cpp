#include "train/backend/onednn/kernels/base_internal.h"
#include "train/backend/onednn/kernels/functions_internal.h"

// One block of channels at a time; neighbours are loaded again from memory.
namespace winnow::train::kernels::WINNOW_ISA {
namespace {

// Channels [first, first + kLanes) of a row; 0 for channels that do not exist.
template <class T>
Floats channels_from(const T* row, Index first, Index channels) {
  if (first >= 0 && first + kLanes <= channels) return load(row + first);
  T whole[kLanes] = {};
  const Index begin = greatest(first, 0);
  const Index end = least(first + kLanes, channels);
  if (begin < end) {
    __builtin_memcpy(whole + (begin - first), row + begin,
                     static_cast<std::size_t>(end - begin) * sizeof(T));
  }
  return load(whole);
}

Floats root(const Floats& v) {
  Floats roots;
  for (int i = 0; i < kLanes; ++i) roots[i] = __builtin_sqrtf(v[i]);
  return roots;
}

// base^-beta. Roots are many times faster than powers, and the usual beta is 0.75.
Floats factor_of(const Floats& base, float beta) {
  if (beta == 0.75F) {
    const Floats square_root = root(base);
    return 1.0F / (square_root * root(square_root));
  }
  Floats powers;
  for (int i = 0; i < kLanes; ++i) powers[i] = __builtin_powf(base[i], -beta);
  return powers;
}

// k + share * sum of squares of the neighbours, for channels from `first` on.
template <class T>
Floats base_of(const LocalResponseNormLayer& layer, const T* x, Index first) {
  Floats sum = {};
  for (Index d = -(layer.size / 2); d <= (layer.size - 1) / 2; ++d) {
    const Floats v = channels_from(x, first + d, layer.channels);
    sum += v * v;
  }
  return layer.k + layer.share * sum;
}

// Calls f(row * channels) for all rows.
template <class Function>
void for_rows(const LocalResponseNormLayer& layer, int threads, Function f) {
  const Index rows_each = greatest(1, kGrain / layer.channels);
  parallel_pieces(layer.rows, rows_each, threads, [=](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) f(row * layer.channels);
  });
}

template <class T>
void forward(const LocalResponseNorm& a, int threads) {
  for_rows(a.layer, threads, [=](Index at) {
    const T* x = static_cast<const T*>(a.x) + at;
    T* y = static_cast<T*>(a.to) + at;
    for_blocks(a.layer.channels, [=](Index c, int lanes) {
      const Floats factor = factor_of(base_of(a.layer, x, c), a.layer.beta);
      store_block(y + c, load_block(x + c, lanes) * factor, lanes);
    });
  });
}

template <class T>
void backward(const LocalResponseNorm& a, int threads) {
  const LocalResponseNormLayer& layer = a.layer;
  for_rows(layer, threads, [=](Index at) {
    const T* x = static_cast<const T*>(a.x) + at;
    const T* dy = static_cast<const T*>(a.dy) + at;
    T* dx = static_cast<T*>(a.to) + at;
    for_blocks(layer.channels, [=](Index c, int lanes) {
      Floats sum = {};
      for (Index d = -((layer.size - 1) / 2); d <= layer.size / 2; ++d) {
        const Floats base = base_of(layer, x, c + d);
        sum += channels_from(dy, c + d, layer.channels) * channels_from(x, c + d, layer.channels) *
               (factor_of(base, layer.beta) / base);
      }
      const Floats factor = factor_of(base_of(layer, x, c), layer.beta);
      const float slope = 2 * layer.beta * layer.share;
      store_block(dx + c,
                  load_block(dy + c, lanes) * factor - slope * load_block(x + c, lanes) * sum,
                  lanes);
    });
  });
}

}  // namespace

void local_response_norm(const LocalResponseNorm& a, int threads) {
  typed<LocalResponseNorm, forward<float>, forward<Bf16>>(a, threads);
}

void local_response_norm_backward(const LocalResponseNorm& a, int threads) {
  typed<LocalResponseNorm, backward<float>, backward<Bf16>>(a, threads);
}

}  // namespace winnow::train::kernels::WINNOW_ISA
