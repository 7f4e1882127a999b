#pragma once

#include "train/backend/cudnn/kernels_base_internal.h"

namespace winnow::train::cudnn::kernels {

template <class To, class From, int N>
struct ConvertKernel {
  static constexpr const char* kName = "convert";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  const From* from;
  To* to;
  Index count;

  LaunchShape shape() const { return flat_shape<N>(count); }
  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    for_flat<N>(at, count, [this](Index i, auto width) {
      constexpr int kWidth = decltype(width)::kValue;
      store<kWidth>(to + i, load<kWidth>(from + i));
    });
  }
};

template <class T>
struct NormalizeKernel {
  static constexpr const char* kName = "normalize";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  Normalize a;

  LaunchShape shape() const { return flat_shape<1>(a.count); }
  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    T* y = static_cast<T*>(a.y);
    for_flat<1>(at, a.count, [this, y](Index i, auto) {
      const Index c = split(i, a.channels).rest;
      y[i] = element<T>(static_cast<float>(a.pixels[i]) * a.factor[c] + a.offset[c]);
    });
  }
};

struct ReluOf {
  // ReLU; NaN stays NaN
  WINNOW_DEVICE_FN float operator()(float a, float) const { return a <= 0 ? 0 : a; }
};
struct WhereOpen {
  WINNOW_DEVICE_FN float operator()(float y, float dy) const { return y > 0 ? dy : 0; }
};
struct SumOf {
  WINNOW_DEVICE_FN float operator()(float a, float b) const { return a + b; }
};

template <class T, int N, class Function>
struct ElementwiseKernel {
  static constexpr const char* kName = "elementwise";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  const T* a;
  const T* b;
  T* y;
  Index count;

  LaunchShape shape() const { return flat_shape<N>(count); }
  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    for_flat<N>(at, count, [this](Index i, auto width) {
      constexpr int kWidth = decltype(width)::kValue;
      Floats<kWidth> v = load<kWidth>(a + i);
      const Floats<kWidth> w = load<kWidth>(b + i);
      for (int k = 0; k < kWidth; ++k) v.at[k] = Function()(v.at[k], w.at[k]);
      store<kWidth>(y + i, v);
    });
  }
};

// Reorders a filter from (K,C,R,S) to (K,R,S,C). Neighbouring threads write neighbouring elements.
template <class T>
struct PackFilterKernel {
  static constexpr const char* kName = "pack filter";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  const float* from;
  T* to;
  Index k, c, r, s;

  LaunchShape shape() const { return flat_shape<1>(k * c * r * s); }
  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    for_flat<1>(at, k * c * r * s, [this](Index i, auto) {
      const QuotientRest channel = split(i, c);  // quotient: index in k*r*s; rest: channel c
      // Quotient: filter k; rest: index in r*s.
      const QuotientRest filter = split(channel.quotient, r * s);
      to[i] = element<T>(from[(filter.quotient * c + channel.rest) * r * s + filter.rest]);
    });
  }
};

template <class T>
struct UnpackFilterKernel {
  static constexpr const char* kName = "unpack filter";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  const T* from;
  float* to;
  Index k, c, r, s;

  LaunchShape shape() const { return flat_shape<1>(k * c * r * s); }
  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    for_flat<1>(at, k * c * r * s, [this](Index i, auto) {
      const QuotientRest place = split(i, r * s);  // quotient: index in k*c; rest: index in r*s
      const QuotientRest filter = split(place.quotient, c);  // quotient: filter k; rest: channel c
      to[i] = as_float(from[(filter.quotient * r * s + place.rest) * c + filter.rest]);
    });
  }
};

template <class T, int N>
struct AddBiasKernel {
  static constexpr const char* kName = "add bias";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  T* y;
  const float* bias;
  Index rows, channels;
  Tiling tiles = tiling(channels, N);

  LaunchShape shape() const { return matrix_shape(tiles, rows); }
  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    const Spot s = spot(tiles, at);
    for_rows(tiles, s, rows, [this, &s](Index row) {
      T* to = y + row * channels + s.group * N;
      Floats<N> v = load<N>(to);
      for (int i = 0; i < N; ++i) v.at[i] += bias[s.group * N + i];
      store<N>(to, v);
    });
  }
};

}  // namespace winnow::train::cudnn::kernels
