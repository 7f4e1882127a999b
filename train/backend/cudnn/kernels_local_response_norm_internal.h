#pragma once

#include <cmath>

#include "train/backend/cudnn/kernels_base_internal.h"
#include "train/backend/cudnn/kernels_launch_internal.h"

namespace winnow::train::cudnn::kernels {

// Local response norm, forward or backward, with one thread for each element. Each thread reads its
// neighbours' values from memory again.
template <class T, bool kBackward>
struct LocalResponseNormKernel {
  static constexpr const char* kName =
      kBackward ? "local response norm, backward" : "local response norm";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  LocalResponseNorm a;

  LaunchShape shape() const { return flat_shape<1>(a.layer.rows * a.layer.channels); }
  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    for_flat<1>(at, a.layer.rows * a.layer.channels, [this](Index i, auto) {
      const Index c = split(i, a.layer.channels).rest;
      const float factor = std::pow(base(i - c, c), -a.layer.beta);
      float v = at_or_zero(a.x, i - c, c) * factor;
      if constexpr (kBackward) v = at_or_zero(a.dy, i - c, c) * factor - rest(i - c, c);
      static_cast<T*>(a.to)[i] = element<T>(v);
    });
  }

 private:
  // Element of channel c in the row that begins at `row`; 0 if there is no such channel.
  WINNOW_DEVICE_FN float at_or_zero(const void* from, Index row, Index c) const {
    if (c < 0 || c >= a.layer.channels) return 0;
    return as_float(static_cast<const T*>(from)[row + c]);
  }
  // Base of the power for channel c: k + share * sum of squares of the neighbouring channels.
  WINNOW_DEVICE_FN float base(Index row, Index c) const {
    float sum = 0;
    for (Index j = c - a.layer.size / 2; j <= c + (a.layer.size - 1) / 2; ++j) {
      const float x = at_or_zero(a.x, row, j);
      sum += x * x;
    }
    return a.layer.k + a.layer.share * sum;
  }
  // Second term of the gradient for channel j: x contributes to all results that have it as a
  // neighbour.
  WINNOW_DEVICE_FN float rest(Index row, Index j) const {
    float sum = 0;
    for (Index c = j - (a.layer.size - 1) / 2; c <= j + a.layer.size / 2; ++c) {
      const float of = base(row, c);
      sum +=
          at_or_zero(a.dy, row, c) * at_or_zero(a.x, row, c) * (std::pow(of, -a.layer.beta) / of);
    }
    return 2 * a.layer.beta * a.layer.share * at_or_zero(a.x, row, j) * sum;
  }
};

template <class Launcher, bool kBackward>
void local_response_norm(const LocalResponseNorm& a, Stream& stream) {
  by_type(a.layer.type, [&](auto type) {
    launch<Launcher>(LocalResponseNormKernel<TypeOf<decltype(type)>, kBackward>{a}, stream);
  });
}

}  // namespace winnow::train::cudnn::kernels
