#pragma once

#include "train/backend/cudnn/kernels_base_internal.h"
#include "train/backend/cudnn/kernels_launch_internal.h"
#include "train/ops/dropout_bits.h"

namespace winnow::train::cudnn::kernels {

template <class T>
struct DropoutKernel {
  static constexpr const char* kName = "dropout";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  Dropout a;

  LaunchShape shape() const { return flat_shape<1>(a.samples * a.elements); }
  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    for_flat<1>(at, a.samples * a.elements, [this](Index i, auto) {
      // Quotient: sample; rest: element within the sample.
      const QuotientRest place = split(i, a.elements);
      std::uint64_t key = 0;
      for (Index k = 8; k-- > 0;) key = key << 8 | a.keys[place.quotient * 8 + k];
      const auto number = static_cast<std::uint64_t>(a.whole_samples ? 0 : place.rest);
      const bool drops = dropout_bits(dropout_stream(key, a.operation), number) < a.threshold;
      const float x = as_float(static_cast<const T*>(a.x)[i]);
      static_cast<T*>(a.y)[i] = element<T>(drops ? 0.0F : x * a.factor);
    });
  }
};

template <class Launcher>
void dropout(const Dropout& a, Stream& stream) {
  by_type(a.type,
          [&](auto type) { launch<Launcher>(DropoutKernel<TypeOf<decltype(type)>>{a}, stream); });
}

}  // namespace winnow::train::cudnn::kernels
