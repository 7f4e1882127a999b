#pragma once

#include "train/backend/cudnn/kernels_base_internal.h"

// Kernels of pooling, with one thread for each result of N channels. The backward pass sums over
// all windows that contain an element, in a fixed order.
namespace winnow::train::cudnn::kernels {

struct Pixel {
  Index image, row, column;
};
WINNOW_DEVICE_FN Pixel pixel_of(Index at, Index height, Index width) {
  const QuotientRest line = split(at, width);
  const QuotientRest image = split(line.quotient, height);
  return {image.quotient, image.rest, line.rest};
}

struct Range {
  Index begin, end;
};
// Range of input positions that the window of output position `out` covers, along one axis, clipped
// to the data.
WINNOW_DEVICE_FN Range covered(Index out, int kernel, int stride, int pad, Index size) {
  const Index begin = out * stride - pad;
  return {greatest(begin, 0), least(begin + kernel, size)};
}
// Range of output positions whose windows contain input position `in`, along one axis.
WINNOW_DEVICE_FN Range covering(Index in, int kernel, int stride, int pad, Index outs) {
  const Index past = in + pad - kernel + 1;  // earliest start of a window that contains `in`
  return {past <= 0 ? 0 : divide(past + stride - 1, stride),
          least(outs, divide(in + pad, stride) + 1)};
}

enum class PoolKind : std::uint8_t { kMax, kAverage };

template <class T, int N, PoolKind kKind>
struct PoolKernel {
  static constexpr const char* kName = kKind == PoolKind::kMax ? "max pool" : "average pool";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  Pool a;
  Tiling tiles = tiling(a.layer.channels, N);

  WINNOW_DEVICE_FN Index rows() const {
    return a.layer.batch * a.layer.out_height * a.layer.out_width;
  }
  LaunchShape shape() const { return matrix_shape(tiles, rows()); }

  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    const Spot s = spot(tiles, at);
    for_rows(tiles, s, rows(), [this, &s](Index row) {
      const Pixel out = pixel_of(row, a.layer.out_height, a.layer.out_width);
      const Range hs = covered(out.row, a.layer.window.kernel_h, a.layer.window.stride,
                               a.layer.window.pad, a.layer.height);
      const Range ws = covered(out.column, a.layer.window.kernel_w, a.layer.window.stride,
                               a.layer.window.pad, a.layer.width);
      Floats<N> v = {};
      Pack<std::uint8_t, N> place = {};
      bool none = true;
      for (Index h = hs.begin; h < hs.end; ++h) {
        for (Index w = ws.begin; w < ws.end; ++w) {
          const Floats<N> x =
              load<N>(static_cast<const T*>(a.from) +
                      ((out.image * a.layer.height + h) * a.layer.width + w) * a.layer.channels +
                      s.group * N);
          const auto here = static_cast<std::uint8_t>(
              (h - (out.row * a.layer.window.stride - a.layer.window.pad)) *
                  a.layer.window.kernel_w +
              w - (out.column * a.layer.window.stride - a.layer.window.pad));
          for (int i = 0; i < N; ++i) {
            if constexpr (kKind == PoolKind::kAverage) {
              v.at[i] += x.at[i];
            } else if (none || x.at[i] > v.at[i] || (x.at[i] != x.at[i] && v.at[i] == v.at[i])) {
              // The first NaN wins, so that it reaches the loss.
              v.at[i] = x.at[i];
              place.at[i] = here;
            }
          }
          none = false;
        }
      }
      const Index to = row * a.layer.channels + s.group * N;
      if constexpr (kKind == PoolKind::kAverage) {
        const auto size = static_cast<float>(a.layer.window.kernel_h * a.layer.window.kernel_w);
        for (int i = 0; i < N; ++i) v.at[i] /= size;
      } else {
        *reinterpret_cast<Pack<std::uint8_t, N>*>(a.index + to) = place;
      }
      store<N>(static_cast<T*>(a.to) + to, v);
    });
  }
};

template <class T, int N, PoolKind kKind>
struct PoolBackwardKernel {
  static constexpr const char* kName =
      kKind == PoolKind::kMax ? "max pool, backward" : "average pool, backward";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  Pool a;
  Tiling tiles = tiling(a.layer.channels, N);

  WINNOW_DEVICE_FN Index rows() const { return a.layer.batch * a.layer.height * a.layer.width; }
  LaunchShape shape() const { return matrix_shape(tiles, rows()); }

  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    const Spot s = spot(tiles, at);
    for_rows(tiles, s, rows(), [this, &s](Index row) {
      const Pixel in = pixel_of(row, a.layer.height, a.layer.width);
      const Range ps = covering(in.row, a.layer.window.kernel_h, a.layer.window.stride,
                                a.layer.window.pad, a.layer.out_height);
      const Range qs = covering(in.column, a.layer.window.kernel_w, a.layer.window.stride,
                                a.layer.window.pad, a.layer.out_width);
      Floats<N> sum = {};
      for (Index p = ps.begin; p < ps.end; ++p) {
        for (Index q = qs.begin; q < qs.end; ++q) {
          const Index from =
              ((in.image * a.layer.out_height + p) * a.layer.out_width + q) * a.layer.channels +
              s.group * N;
          const Floats<N> dy = load<N>(static_cast<const T*>(a.from) + from);
          if constexpr (kKind == PoolKind::kAverage) {
            for (int i = 0; i < N; ++i) sum.at[i] += dy.at[i];
          } else {
            const auto place = *reinterpret_cast<const Pack<std::uint8_t, N>*>(a.index + from);
            const Index here = (in.row - (p * a.layer.window.stride - a.layer.window.pad)) *
                                   a.layer.window.kernel_w +
                               in.column - (q * a.layer.window.stride - a.layer.window.pad);
            for (int i = 0; i < N; ++i) sum.at[i] += place.at[i] == here ? dy.at[i] : 0;
          }
        }
      }
      if constexpr (kKind == PoolKind::kAverage) {
        const auto size = static_cast<float>(a.layer.window.kernel_h * a.layer.window.kernel_w);
        for (int i = 0; i < N; ++i) sum.at[i] /= size;
      }
      store<N>(static_cast<T*>(a.to) + row * a.layer.channels + s.group * N, sum);
    });
  }
};

}  // namespace winnow::train::cudnn::kernels
