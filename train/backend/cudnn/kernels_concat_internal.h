#pragma once

#include "train/backend/cudnn/kernels_base_internal.h"
#include "train/backend/cudnn/kernels_launch_internal.h"

namespace winnow::train::cudnn::kernels {

template <class T>
struct CopyChannelsKernel {
  static constexpr const char* kName = "copy channels";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  CopyChannels a;

  LaunchShape shape() const { return flat_shape<1>(a.rows * a.channels); }
  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    for_flat<1>(at, a.rows * a.channels, [this](Index i, auto) {
      const QuotientRest row = split(i, a.channels);
      static_cast<T*>(a.to)[row.quotient * a.to_stride + row.rest] =
          static_cast<const T*>(a.from)[row.quotient * a.from_stride + row.rest];
    });
  }
};

template <class T>
struct PadChannelsKernel {
  static constexpr const char* kName = "pad channels";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  CopyChannels a;

  LaunchShape shape() const { return flat_shape<1>(a.rows * a.to_stride); }
  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    for_flat<1>(at, a.rows * a.to_stride, [this](Index i, auto) {
      const QuotientRest row = split(i, a.to_stride);
      const T* from = static_cast<const T*>(a.from) + row.quotient * a.from_stride;
      static_cast<T*>(a.to)[i] = row.rest < a.channels ? from[row.rest] : T{};
    });
  }
};

template <class Launcher>
void pad_channels(const CopyChannels& a, Stream& stream) {
  by_type(a.type, [&](auto type) {
    launch<Launcher>(PadChannelsKernel<TypeOf<decltype(type)>>{a}, stream);
  });
}

template <class Launcher>
void copy_channels(const CopyChannels& a, Stream& stream) {
  by_type(a.type, [&](auto type) {
    launch<Launcher>(CopyChannelsKernel<TypeOf<decltype(type)>>{a}, stream);
  });
}

}  // namespace winnow::train::cudnn::kernels
