#pragma once

#include "train/backend/cudnn/kernels_base_internal.h"

// The updates of train/optim, element by element in the same order of roundings.
namespace winnow::train::cudnn::kernels {

struct FiniteCheckKernel {
  static constexpr const char* kName = "finite check";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  FiniteCheck a;

  LaunchShape shape() const { return flat_shape<1>(a.count); }
  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    for_flat<1>(at, a.count, [this](Index i, auto) {
      // Many may write, all of them the same.
      if (!(a.values[i] - a.values[i] == 0)) a.scalars->finite = 0;
    });
  }
};

WINNOW_DEVICE_FN double rate_of(const StepScalars& scalars, float rate) {
  return static_cast<double>(scalars.lr) * static_cast<double>(rate);
}

struct SgdKernel {
  static constexpr const char* kName = "sgd";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  Sgd a;

  LaunchShape shape() const { return flat_shape<1>(a.count); }
  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    if (a.scalars->finite == 0) return;
    const auto rate = static_cast<float>(rate_of(*a.scalars, a.rate));
    for_flat<1>(at, a.count, [this, rate](Index i, auto) {
      const float value = a.value[i];
      const float g = a.gradient[i] + a.decay * value;
      const float v = a.mu * a.momentum[i] + g;
      a.momentum[i] = v;
      a.value[i] = value - rate * (a.nesterov ? g + a.mu * v : v);
    });
  }
};

constexpr Index lars_parts(Index count) {
  return greatest(1, least(kThreads, ceil_div(count, Index{kThreads} * 16)));
}

// Sums of squares of values and gradients, part by part.
struct LarsNormsKernel {
  static constexpr const char* kName = "lars norms";
  static constexpr int kPhases = 3;
  using Shared = BlockSums<2>;
  Lars a;
  Index parts = lars_parts(a.count);

  LaunchShape shape() const { return {parts, kThreads}; }
  template <int kPhase>
  WINNOW_DEVICE_FN void run(const Place& at, Shared& shared) const {
    if constexpr (kPhase == 0) {
      double w = 0;
      double g = 0;
      for (Index i = at.block * kThreads + at.thread; i < a.count; i += parts * kThreads) {
        w += static_cast<double>(a.value[i]) * static_cast<double>(a.value[i]);
        g += static_cast<double>(a.gradient[i]) * static_cast<double>(a.gradient[i]);
      }
      shared.at[0][at.thread] = w;
      shared.at[1][at.thread] = g;
    } else if constexpr (kPhase == 1) {
      shared.first_step(at.thread);
    } else if (at.thread < 2) {
      static_cast<double*>(a.scratch)[at.thread * parts + at.block] = shared.second_step(at.thread);
    }
  }
};

// The local rate behind the sums in scratch.
struct LarsRateKernel {
  static constexpr const char* kName = "lars rate";
  static constexpr int kPhases = 3;
  using Shared = BlockSums<2>;
  Lars a;
  Index parts = lars_parts(a.count);

  LaunchShape shape() const { return {1, kThreads}; }
  template <int kPhase>
  WINNOW_DEVICE_FN void run(const Place& at, Shared& shared) const {
    auto* scratch = static_cast<double*>(a.scratch);
    if constexpr (kPhase == 0) {
      for (int way = 0; way < 2; ++way) {
        shared.at[way][at.thread] = at.thread < parts ? scratch[way * parts + at.thread] : 0;
      }
    } else if constexpr (kPhase == 1) {
      shared.first_step(at.thread);
    } else if (at.thread == 0) {
      const double w = std::sqrt(shared.second_step(0));
      const double g = std::sqrt(shared.second_step(1));
      const bool both = w > 0 && g > 0;
      scratch[2 * parts] = both ? a.trust * w / (g + static_cast<double>(a.decay) * w) : 1;
    }
  }
};

struct LarsKernel {
  static constexpr const char* kName = "lars";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  Lars a;
  Index parts = lars_parts(a.count);

  LaunchShape shape() const { return flat_shape<1>(a.count); }
  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    if (a.scalars->finite == 0) return;
    const double local = a.adapt ? static_cast<const double*>(a.scratch)[2 * parts] : 1;
    const auto rate = static_cast<float>(rate_of(*a.scalars, a.rate) * local);
    for_flat<1>(at, a.count, [this, rate](Index i, auto) {
      const float value = a.value[i];
      const float v = a.mu * a.momentum[i] + rate * (a.gradient[i] + a.decay * value);
      a.momentum[i] = v;
      a.value[i] = value - v;
    });
  }
};

struct StatisticKernel {
  static constexpr const char* kName = "running statistic";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  Statistic a;

  LaunchShape shape() const { return flat_shape<1>(a.count); }
  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    if (a.scalars->finite == 0) return;
    for_flat<1>(at, a.count, [this](Index i, auto) {
      a.value[i] = static_cast<float>((1 - a.momentum) * static_cast<double>(a.value[i]) +
                                      a.momentum * a.scale * static_cast<double>(a.sum[i]));
    });
  }
};

}  // namespace winnow::train::cudnn::kernels
