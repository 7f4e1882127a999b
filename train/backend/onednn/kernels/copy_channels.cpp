#include "train/backend/onednn/kernels/base_internal.h"
#include "train/backend/onednn/kernels/functions_internal.h"

namespace winnow::train::kernels::WINNOW_ISA {
namespace {

template <class T>
void copy_typed(const CopyChannels& a, int threads) {
  const auto* from = static_cast<const T*>(a.from);
  auto* to = static_cast<T*>(a.to);
  const auto bytes = static_cast<std::size_t>(a.channels) * sizeof(T);
  parallel_pieces(a.rows, greatest(1, kGrain / a.channels), threads, [=](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      __builtin_memcpy(to + row * a.to_stride, from + row * a.from_stride, bytes);
    }
  });
}

template <class T>
void pad_typed(const CopyChannels& a, int threads) {
  const auto* from = static_cast<const T*>(a.from);
  auto* to = static_cast<T*>(a.to);
  const auto bytes = static_cast<std::size_t>(a.channels) * sizeof(T);
  const auto rest = static_cast<std::size_t>(a.to_stride - a.channels) * sizeof(T);
  parallel_pieces(a.rows, greatest(1, kGrain / a.to_stride), threads, [=](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      __builtin_memcpy(to + row * a.to_stride, from + row * a.from_stride, bytes);
      __builtin_memset(to + row * a.to_stride + a.channels, 0, rest);
    }
  });
}

}  // namespace

void copy_channels(const CopyChannels& a, int threads) {
  typed<CopyChannels, copy_typed<float>, copy_typed<Bf16>>(a, threads);
}

void pad_channels(const CopyChannels& a, int threads) {
  typed<CopyChannels, pad_typed<float>, pad_typed<Bf16>>(a, threads);
}

}  // namespace winnow::train::kernels::WINNOW_ISA
