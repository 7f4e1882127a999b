#pragma once

#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "train/backend/cudnn/kernels_base_internal.h"
#include "train/backend/cudnn/kernels_elementwise_internal.h"
#include "train/backend/cudnn/kernels_norm_internal.h"

// Functions that turn arguments into launches of kernels, for any Launcher (GPU, or host in tests).
namespace winnow::train::cudnn::kernels {

template <class Launcher, class Kernel>
void launch(const Kernel& kernel, Stream& stream) {
  static_assert(std::is_trivially_copyable_v<Kernel>);
  Launcher::launch(kernel, stream);
}

template <class T>
struct Typed {
  using Type = T;
};
template <class Function>
void by_type(Element type, Function f) {
  switch (type) {
    case Element::kF32:
      return f(Typed<float>());
    case Element::kBf16:
      return f(Typed<Bf16>());
    case Element::kF16:
      return f(Typed<F16>());
  }
}
template <class T>
using TypeOf = typename T::Type;

// Whether rows of `channels` elements at these addresses can be moved in packs of `pack` elements,
// which have `bytes` bytes. nullptr fits always.
inline bool fits_packs(std::initializer_list<const void*> addresses, std::int64_t channels,
                       int pack, int bytes) {
  for (const void* address : addresses) {
    if (reinterpret_cast<std::uintptr_t>(address) % static_cast<std::uintptr_t>(bytes) != 0) {
      return false;
    }
  }
  return channels % pack == 0;
}

// Calls f<T, N>(), where T is the element type and N the widest pack that type, addresses and
// channels allow.
template <class Function>
void by_pack(Element type, std::initializer_list<const void*> addresses, std::int64_t channels,
             Function f) {
  by_type(type, [&](auto typed) {
    using T = TypeOf<decltype(typed)>;
    if (fits_packs(addresses, channels, kPack<T>, 16)) {
      f.template operator()<T, kPack<T>>();
    } else {
      f.template operator()<T, 1>();
    }
  });
}

// Launches y = Function(a, b) for each element.
template <class Launcher, class Function>
void elementwise(const Elementwise& e, Stream& stream) {
  const void* second = e.b == nullptr ? e.a : e.b;
  by_pack(e.type, {e.a, second, e.y}, 0, [&]<class T, int N>() {
    launch<Launcher>(
        ElementwiseKernel<T, N, Function>{static_cast<const T*>(e.a), static_cast<const T*>(second),
                                          static_cast<T*>(e.y), e.count},
        stream);
  });
}

// Sums terms over the rows of a matrix, for each channel. `scratch`: memory of
// channel_sums_scratch_bytes().
template <class Launcher, class T, int N, class Terms>
void sum_channels(const Terms& terms, std::int64_t rows, std::int64_t channels, void* scratch,
                  Stream& stream) {
  const Parts parts = parts_of(rows, channels);
  auto* sums = static_cast<double*>(scratch);
  launch<Launcher>(ChannelSumsKernel<T, N, Terms>{terms, channels, parts, sums}, stream);
  launch<Launcher>(FinishSumsKernel<Terms>{terms, channels, parts, sums}, stream);
}

}  // namespace winnow::train::cudnn::kernels
