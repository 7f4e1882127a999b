#pragma once

#include "train/backend/cudnn/kernels_base_internal.h"
#include "train/backend/cudnn/kernels_launch_internal.h"

namespace winnow::train::cudnn::kernels {

template <class T>
struct ScaleKernel {
  static constexpr const char* kName = "scale";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  Scale a;

  Index count() const { return a.layer.batch * a.layer.pixels * a.layer.channels; }
  LaunchShape shape() const { return flat_shape<1>(count()); }
  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    const auto& layer = a.layer;
    for_flat<1>(at, layer.batch * layer.pixels * layer.channels, [this, &layer](Index i, auto) {
      const QuotientRest row = split(i, layer.channels);
      const Index sample = layer.by_sample ? divide(row.quotient, layer.pixels) : 0;
      const float factor = a.factor[sample * layer.channels + row.rest];
      static_cast<T*>(a.y)[i] = element<T>(as_float(static_cast<const T*>(a.x)[i]) * factor);
    });
  }
};

// Gradient of factors by sample and channel. One thread sums one channel of a sample; neighbouring
// threads read neighbouring channels.
template <class T>
struct SampleFactorsKernel {
  static constexpr const char* kName = "gradient of the factors of samples";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  ScaleFactorGradient a;

  LaunchShape shape() const { return flat_shape<1>(a.layer.batch * a.layer.channels); }
  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    const auto& layer = a.layer;
    for_flat<1>(at, layer.batch * layer.channels, [this, &layer](Index i, auto) {
      const QuotientRest place = split(i, layer.channels);  // quotient: sample; rest: channel
      const Index from = place.quotient * layer.pixels * layer.channels + place.rest;
      double sum = 0;
      for (Index p = 0; p < layer.pixels; ++p) {
        const Index k = from + p * layer.channels;
        sum += static_cast<double>(as_float(static_cast<const T*>(a.x)[k])) *
               static_cast<double>(as_float(static_cast<const T*>(a.dy)[k]));
      }
      a.dfactor[i] = static_cast<float>(sum);
    });
  }
};

// The terms that are summed over all rows for the gradient of factors by channel: x * dy.
template <class T>
struct FactorTerms {
  static constexpr int kSums = 1;
  ScaleFactorGradient a;
  template <int N>
  WINNOW_DEVICE_FN void take(Index at, Index, float (&sums)[1][N]) const {
    const Floats<N> x = load<N>(static_cast<const T*>(a.x) + at);
    const Floats<N> dy = load<N>(static_cast<const T*>(a.dy) + at);
    for (int i = 0; i < N; ++i) sums[0][i] += x.at[i] * dy.at[i];
  }
  WINNOW_DEVICE_FN void put(Index channel, const double (&sums)[1]) const {
    a.dfactor[channel] = static_cast<float>(sums[0]);
  }
};

template <class Launcher>
void scale(const Scale& a, Stream& stream) {
  by_type(a.layer.type,
          [&](auto type) { launch<Launcher>(ScaleKernel<TypeOf<decltype(type)>>{a}, stream); });
}

template <class Launcher>
void scale_factor_gradient(const ScaleFactorGradient& a, Stream& stream) {
  if (a.layer.by_sample) {
    by_type(a.layer.type, [&](auto type) {
      launch<Launcher>(SampleFactorsKernel<TypeOf<decltype(type)>>{a}, stream);
    });
    return;
  }
  by_pack(a.layer.type, {a.x, a.dy}, a.layer.channels, [&]<class T, int N>() {
    sum_channels<Launcher, T, N>(FactorTerms<T>{a}, a.layer.batch * a.layer.pixels,
                                 a.layer.channels, a.scratch, stream);
  });
}

}  // namespace winnow::train::cudnn::kernels
