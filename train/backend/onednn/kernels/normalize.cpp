#include "train/backend/onednn/kernels/base_internal.h"
#include "train/backend/onednn/kernels/functions_internal.h"

namespace winnow::train::kernels::WINNOW_ISA {
namespace {

template <class T>
void normalize_typed(const Normalize& a, int threads) {
  auto* y = static_cast<T*>(a.y);
  const Index pattern = a.pattern;
  const Index grain = greatest(1, kGrain / pattern) * pattern;
  parallel_pieces(a.count, grain, threads, [=](Index begin, Index end) {
    for (Index at = begin; at < end; at += pattern) {
      for (Index j = 0; j < pattern; j += kLanes) {
        const Index left = end - at - j;
        if (left <= 0) break;
        const float* factor = a.table + j;
        const float* offset = a.table + pattern + j;
        const int lanes = left < kLanes ? static_cast<int>(left) : kLanes;
        const Bytes bytes = load_bytes(a.pixels + at + j, lanes);
        const Floats pixels = __builtin_convertvector(__builtin_convertvector(bytes, Ints), Floats);
        store_block(y + at + j, pixels * load(factor) + load(offset), lanes);
      }
    }
  });
}

}  // namespace

void normalize(const Normalize& a, int threads) {
  typed<Normalize, normalize_typed<float>, normalize_typed<Bf16>>(a, threads);
}

}  // namespace winnow::train::kernels::WINNOW_ISA
