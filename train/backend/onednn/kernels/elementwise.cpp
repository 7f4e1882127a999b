#include "train/backend/onednn/kernels/base_internal.h"
#include "train/backend/onednn/kernels/functions_internal.h"

namespace winnow::train::kernels::WINNOW_ISA {
namespace {

template <class To, class From>
void convert_typed(const Convert& a, int threads) {
  const auto* from = static_cast<const From*>(a.from);
  auto* to = static_cast<To*>(a.to);
  parallel_pieces(a.count, kGrain, threads, [=](Index begin, Index end) {
    for_blocks(end - begin, [=](Index i, int lanes) {
      store_block(to + begin + i, load_block(from + begin + i, lanes), lanes);
    });
  });
}

template <class T, class Function>
void elementwise(const Elementwise& e, int threads, Function f) {
  const auto* a = static_cast<const T*>(e.a);
  const auto* b = static_cast<const T*>(e.b == nullptr ? e.a : e.b);
  auto* y = static_cast<T*>(e.y);
  parallel_pieces(e.count, kGrain, threads, [=](Index begin, Index end) {
    for_blocks(end - begin, [=](Index i, int lanes) {
      const Index at = begin + i;
      store_block(y + at, f(load_block(a + at, lanes), load_block(b + at, lanes)), lanes);
    });
  });
}

template <class T>
void relu_typed(const Elementwise& e, int threads) {
  elementwise<T>(e, threads, [](Floats a, Floats) { return rectified(a); });
}
template <class T>
void relu_backward_typed(const Elementwise& e, int threads) {
  elementwise<T>(e, threads, [](Floats y, Floats dy) { return where_open(y, dy); });
}
template <class T>
void add_typed(const Elementwise& e, int threads) {
  elementwise<T>(e, threads, [](Floats a, Floats b) { return a + b; });
}

}  // namespace

void convert(const Convert& a, int threads) {
  if (a.from_type == Element::kF32) {
    a.to_type == Element::kF32 ? convert_typed<float, float>(a, threads)
                               : convert_typed<Bf16, float>(a, threads);
  } else {
    a.to_type == Element::kF32 ? convert_typed<float, Bf16>(a, threads)
                               : convert_typed<Bf16, Bf16>(a, threads);
  }
}

void relu(const Elementwise& a, int threads) {
  typed<Elementwise, relu_typed<float>, relu_typed<Bf16>>(a, threads);
}

void relu_backward(const Elementwise& a, int threads) {
  typed<Elementwise, relu_backward_typed<float>, relu_backward_typed<Bf16>>(a, threads);
}

void add(const Elementwise& a, int threads) {
  typed<Elementwise, add_typed<float>, add_typed<Bf16>>(a, threads);
}

}  // namespace winnow::train::kernels::WINNOW_ISA
