#include "train/backend/onednn/kernels/base_internal.h"
#include "train/backend/onednn/kernels/functions_internal.h"

// For rows as long as a sample's tokens: threads share the channels. Sums are in f64, from the
// first row to the last, so the bits are the same for any number of threads.
namespace winnow::train::kernels::WINNOW_ISA {
namespace {

template <class T>
void add_typed(const AddBias& a, int threads) {
  auto* y = static_cast<T*>(a.y);
  parallel_pieces(a.channels, kGrain, threads, [=](Index begin, Index end) {
    for (Index row = 0; row < a.rows; ++row) {
      T* to = y + row * a.channels;
      // no overlapping blocks, because each element must be added once
      for (Index c = begin; c < end; c += kLanes) {
        const int lanes = static_cast<int>(least(kLanes, end - c));
        store_block(to + c, load_block(to + c, lanes) + load_block(a.bias + c, lanes), lanes);
      }
    }
  });
}

template <class T>
void gradient_typed(const BiasGradient& a, int threads) {
  const auto* dy = static_cast<const T*>(a.dy);
  parallel_pieces(a.channels, kGrain / 16, threads, [=](Index begin, Index end) {
    for (Index c = begin; c < end; c += kLanes) {
      const int lanes = static_cast<int>(least(kLanes, end - c));
      Doubles sum = {};
      for (Index row = 0; row < a.rows; ++row) {
        sum += wide(load_block(dy + row * a.channels + c, lanes));
      }
      store_block(a.dbias + c, __builtin_convertvector(sum, Floats), lanes);
    }
  });
}

}  // namespace

void add_bias(const AddBias& a, int threads) {
  typed<AddBias, add_typed<float>, add_typed<Bf16>>(a, threads);
}

void bias_gradient(const BiasGradient& a, int threads) {
  typed<BiasGradient, gradient_typed<float>, gradient_typed<Bf16>>(a, threads);
}

}  // namespace winnow::train::kernels::WINNOW_ISA
