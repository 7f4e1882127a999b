#include "train/backend/onednn/kernels/base_internal.h"
#include "train/backend/onednn/kernels/functions_internal.h"
#include "train/ops/dropout_bits.h"

namespace winnow::train::kernels::WINNOW_ISA {
namespace {

std::uint64_t stream_of(const Dropout& a, Index sample) {
  std::uint64_t key = 0;
  for (Index i = 8; i-- > 0;) key = key << 8 | a.keys[sample * 8 + i];
  return dropout_stream(key, a.operation);
}

// Processes elements [begin, end) of a sample.
template <class T>
void dropout_piece(const Dropout& a, Index sample, Index begin, Index end) {
  const std::uint64_t stream = stream_of(a, sample);
  const T* x = static_cast<const T*>(a.x) + sample * a.elements;
  T* y = static_cast<T*>(a.y) + sample * a.elements;
  const bool drops_sample = dropout_bits(stream, 0) < a.threshold;
  for (Index i = begin; i < end; i += kLanes) {
    const int lanes = static_cast<int>(least(kLanes, end - i));
    Floats factor = Floats{} + (a.whole_samples && drops_sample ? 0.0F : a.factor);
    for (int k = 0; k < lanes && !a.whole_samples; ++k) {
      const auto number = static_cast<std::uint64_t>(i + k);
      factor[k] = dropout_bits(stream, number) < a.threshold ? 0.0F : a.factor;
    }
    const Floats v = load_block(x + i, lanes);
    // selects 0, because NaN * 0 is not 0
    store_block(y + i, factor == 0 ? Floats{} : v * factor, lanes);
  }
}

template <class T>
void dropout_typed(const Dropout& a, int threads) {
  const Index pieces = (a.elements + kGrain - 1) / kGrain;  // in a sample
  parallel_pieces(a.samples * pieces, 1, threads, [=](Index i, Index) {
    const Index begin = i % pieces * kGrain;
    dropout_piece<T>(a, i / pieces, begin, least(a.elements, begin + kGrain));
  });
}

}  // namespace

void dropout(const Dropout& a, int threads) {
  typed<Dropout, dropout_typed<float>, dropout_typed<Bf16>>(a, threads);
}

}  // namespace winnow::train::kernels::WINNOW_ISA
