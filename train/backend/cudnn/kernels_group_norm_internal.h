#pragma once

#include "train/backend/cudnn/kernels_base_internal.h"
#include "train/backend/cudnn/kernels_launch_internal.h"

// Kernels of group norm, with one thread block for each channel group of a sample.
namespace winnow::train::cudnn::kernels {

using train::kernels::GroupNormLayer;

// The elements of one channel group of a sample: all pixels, and the group's channels.
struct GroupSpan {
  const GroupNormLayer& layer;
  Index block;  // index of the thread block: sample * groups + group

  WINNOW_DEVICE_FN Index channels() const { return divide(layer.channels, layer.groups); }
  WINNOW_DEVICE_FN Index count() const { return layer.pixels * channels(); }

  // Calls f(element, channel) for the elements that one thread processes, and done() after each
  // kChunk of them.
  template <class Function, class Done>
  WINNOW_DEVICE_FN void for_thread(int thread, Function f, Done done) const {
    const QuotientRest of = split(block, layer.groups);
    const Index size = channels();
    const Index first = of.quotient * layer.pixels * layer.channels + of.rest * size;
    for (Index i = thread; i < count();) {
      const Index end = least(count(), i + Index{kChunk} * kThreads);
      for (; i < end; i += kThreads) {
        const QuotientRest at = split(i, size);
        f(first + at.quotient * layer.channels + at.rest, of.rest * size + at.rest);
      }
      done();
    }
  }
  template <class Function>
  WINNOW_DEVICE_FN void for_thread(int thread, Function f) const {
    for_thread(thread, f, [] {});
  }
};

// Computes two sums over the elements that one thread processes, in f32 within chunks and in f64
// across them. add(element, channel, first, second) adds one element's terms.
template <class Add>
WINNOW_DEVICE_FN void sum_thread(const GroupSpan& span, int thread, BlockSums<2>& to, Add add) {
  double first = 0;
  double second = 0;
  float part_of_first = 0;
  float part_of_second = 0;
  span.for_thread(
      thread, [&](Index at, Index channel) { add(at, channel, part_of_first, part_of_second); },
      [&] {
        first += part_of_first;
        second += part_of_second;
        part_of_first = part_of_second = 0;
      });
  to.at[0][thread] = first;
  to.at[1][thread] = second;
}

template <class T>
struct GroupNormKernel {
  static constexpr const char* kName = "group norm";
  static constexpr int kPhases = 7;
  struct Shared {
    BlockSums<2> sums;
    float mean;
    float inverse;
  };
  GroupNorm a;

  LaunchShape shape() const { return {a.layer.batch * a.layer.groups, kThreads}; }

  template <int kPhase>
  WINNOW_DEVICE_FN void run(const Place& at, Shared& shared) const {
    const GroupSpan span{a.layer, at.block};
    const T* x = static_cast<const T*>(a.x);
    if constexpr (kPhase == 0) {
      sum_thread(span, at.thread, shared.sums,
                 [x](Index i, Index, float& first, float&) { first += as_float(x[i]); });
    } else if constexpr (kPhase == 1 || kPhase == 4) {
      shared.sums.first_step(at.thread);
      // Approximate mean, subtracted from all elements before the exact sums.
    } else if constexpr (kPhase == 2) {
      if (at.thread != 0) return;
      shared.mean = static_cast<float>(shared.sums.second_step(0) / count(span));
    } else if constexpr (kPhase == 3) {
      const float near = shared.mean;
      sum_thread(span, at.thread, shared.sums,
                 [x, near](Index i, Index, float& first, float& second) {
                   const float d = as_float(x[i]) - near;
                   first += d;
                   second += d * d;
                 });
    } else if constexpr (kPhase == 5) {
      if (at.thread == 0) finish(span, shared);
    } else {
      span.for_thread(at.thread, [&](Index i, Index channel) {
        const float normal = (as_float(x[i]) - shared.mean) * shared.inverse;
        static_cast<T*>(a.y)[i] = element<T>(normal * a.scale[channel] + a.shift[channel]);
      });
    }
  }

 private:
  WINNOW_DEVICE_FN static double count(const GroupSpan& span) {
    return static_cast<double>(span.count());
  }
  WINNOW_DEVICE_FN void finish(const GroupSpan& span, Shared& shared) const {
    const double off = shared.sums.second_step(0) / count(span);
    const double variance = shared.sums.second_step(1) / count(span) - off * off;
    shared.mean = static_cast<float>(shared.mean + off);
    a.statistics.mean[span.block] = shared.mean;
    a.statistics.variance[span.block] = variance > 0 ? static_cast<float>(variance) : 0;
    shared.inverse = inverse_deviation(a.statistics.variance[span.block], a.layer.epsilon);
  }
};

// Computes dx = inverse * (scale * dy - mean(scale * dy) - normal * mean(scale * dy * normal)),
// where means are over a channel group, and normal is the normalised x.
template <class T>
struct GroupNormBackwardKernel {
  static constexpr const char* kName = "group norm, backward";
  static constexpr int kPhases = 4;
  struct Shared {
    BlockSums<2> sums;
    float mean_g;
    float mean_g_normal;
  };
  GroupNormBackward a;

  LaunchShape shape() const { return {a.layer.batch * a.layer.groups, kThreads}; }

  template <int kPhase>
  WINNOW_DEVICE_FN void run(const Place& at, Shared& shared) const {
    const GroupSpan span{a.layer, at.block};
    const T* x = static_cast<const T*>(a.x);
    const T* dy = static_cast<const T*>(a.dy);
    const float mean = a.statistics.mean[at.block];
    const float inverse = inverse_deviation(a.statistics.variance[at.block], a.layer.epsilon);
    if constexpr (kPhase == 0) {
      const float* scale = a.scale;
      sum_thread(span, at.thread, shared.sums,
                 [=](Index i, Index channel, float& first, float& second) {
                   const float g = as_float(dy[i]) * scale[channel];
                   first += g;
                   second += g * (as_float(x[i]) - mean) * inverse;
                 });
    } else if constexpr (kPhase == 1) {
      shared.sums.first_step(at.thread);
    } else if constexpr (kPhase == 2) {
      if (at.thread != 0) return;
      const auto count = static_cast<double>(span.count());
      shared.mean_g = static_cast<float>(shared.sums.second_step(0) / count);
      shared.mean_g_normal = static_cast<float>(shared.sums.second_step(1) / count);
    } else {
      span.for_thread(at.thread, [&](Index i, Index channel) {
        const float normal = (as_float(x[i]) - mean) * inverse;
        const float g = as_float(dy[i]) * a.scale[channel];
        static_cast<T*>(a.gradients.dx)[i] =
            element<T>(inverse * (g - shared.mean_g - normal * shared.mean_g_normal));
      });
    }
  }
};

// The terms of a group norm's backward pass that are summed over all rows for each channel: dshift
// and dscale.
template <class T>
struct GroupNormTerms {
  static constexpr int kSums = 2;
  GroupNormBackward a;
  template <int N>
  WINNOW_DEVICE_FN void take(Index at, Index channel, float (&sums)[2][N]) const {
    const Floats<N> g = load<N>(static_cast<const T*>(a.dy) + at);
    const Floats<N> x = load<N>(static_cast<const T*>(a.x) + at);
    const Index sample = divide(at, a.layer.pixels * a.layer.channels);
    const Index size = divide(a.layer.channels, a.layer.groups);
    for (int i = 0; i < N; ++i) {
      const Index group = sample * a.layer.groups + divide(channel + i, size);
      sums[0][i] += g.at[i];
      sums[1][i] += g.at[i] * (x.at[i] - a.statistics.mean[group]) *
                    inverse_deviation(a.statistics.variance[group], a.layer.epsilon);
    }
  }
  WINNOW_DEVICE_FN void put(Index channel, const double (&sums)[2]) const {
    a.gradients.dshift[channel] = static_cast<float>(sums[0]);
    a.gradients.dscale[channel] = static_cast<float>(sums[1]);
  }
};

template <class Launcher>
void group_norm(const GroupNorm& a, Stream& stream) {
  by_type(a.layer.type,
          [&](auto type) { launch<Launcher>(GroupNormKernel<TypeOf<decltype(type)>>{a}, stream); });
}

template <class Launcher>
void group_norm_backward(const GroupNormBackward& a, Stream& stream) {
  by_type(a.layer.type, [&](auto type) {
    launch<Launcher>(GroupNormBackwardKernel<TypeOf<decltype(type)>>{a}, stream);
  });
  by_pack(a.layer.type, {a.x, a.dy}, a.layer.channels, [&]<class T, int N>() {
    sum_channels<Launcher, T, N>(GroupNormTerms<T>{a}, a.layer.batch * a.layer.pixels,
                                 a.layer.channels, a.scratch, stream);
  });
}

}  // namespace winnow::train::cudnn::kernels
