#pragma once

#include "train/backend/cudnn/kernels_base_internal.h"
#include "train/optim/rules.h"

// Updates of a tensor by an optimiser rule of train/optim. Each element is rounded as on the host.
// Norms are summed in another order than on the host.
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
      // Several threads may write here at once; all write the same value.
      if (!(a.values[i] - a.values[i] == 0)) a.scalars->finite = 0;
    });
  }
};

// Returns the facts for a rule, without norms.
WINNOW_DEVICE_FN TensorStep step_of(const ParameterOnCard& a) {
  return {.lr = a.scalars->lr * a.lr_scale, .step = a.scalars->step, .decay = a.decay};
}

constexpr Index norm_parts(Index count) {
  return greatest(1, least(kThreads, ceil_div(count, Index{kThreads} * 16)));
}

// Computes the sums of squares of values and of gradients, for each part. They are stored in the
// first 2 * parts numbers of the scratch memory.
struct NormPartsKernel {
  static constexpr const char* kName = "norm parts";
  static constexpr int kPhases = 3;
  using Shared = BlockSums<2>;
  ParameterOnCard a;
  Index parts = norm_parts(a.count);

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

// Updates the optimiser's state by a rule that has direction(). Computes the sums of squares of
// values and of directions, and stores them as NormPartsKernel does.
template <class Rule>
struct DirectionPartsKernel {
  static constexpr const char* kName = "direction norm parts";
  static constexpr int kPhases = 4;
  static constexpr int kSlots = static_cast<int>(Rule::kSlots.size());
  struct Shared {
    typename Rule::Factors factors;
    BlockSums<2> sums;
  };
  Rule rule;
  ParameterOnCard a;
  Index parts = norm_parts(a.count);

  LaunchShape shape() const { return {parts, kThreads}; }
  template <int kPhase>
  WINNOW_DEVICE_FN void run(const Place& at, Shared& shared) const {
    if (a.scalars->finite == 0) return;
    if constexpr (kPhase == 0) {
      if (at.thread == 0) shared.factors = rule.factors(step_of(a));
    } else if constexpr (kPhase == 1) {
      accumulate(at, shared);
    } else if constexpr (kPhase == 2) {
      shared.sums.first_step(at.thread);
    } else if (at.thread < 2) {
      static_cast<double*>(a.scratch)[at.thread * parts + at.block] =
          shared.sums.second_step(at.thread);
    }
  }

 private:
  WINNOW_DEVICE_FN void accumulate(const Place& at, Shared& shared) const {
    const typename Rule::Factors factors = shared.factors;
    double w = 0;
    double u = 0;
    for (Index i = at.block * kThreads + at.thread; i < a.count; i += parts * kThreads) {
      float state[kSlots];
      for (int k = 0; k < kSlots; ++k) state[k] = a.state[k][i];
      Rule::accumulate(factors, a.gradient[i], state);
      for (int k = 0; k < kSlots; ++k) a.state[k][i] = state[k];
      const double direction = Rule::direction(factors, a.value[i], state);
      w += static_cast<double>(a.value[i]) * static_cast<double>(a.value[i]);
      u += direction * direction;
    }
    shared.sums.at[0][at.thread] = w;
    shared.sums.at[1][at.thread] = u;
  }
};

// Computes both norms from the sums of squares in the scratch memory, and stores them after these
// sums.
struct NormsKernel {
  static constexpr const char* kName = "norms";
  static constexpr int kPhases = 3;
  using Shared = BlockSums<2>;
  void* scratch;
  Index parts;

  LaunchShape shape() const { return {1, kThreads}; }
  template <int kPhase>
  WINNOW_DEVICE_FN void run(const Place& at, Shared& shared) const {
    auto* sums = static_cast<double*>(scratch);
    if constexpr (kPhase == 0) {
      for (int way = 0; way < 2; ++way) {
        shared.at[way][at.thread] = at.thread < parts ? sums[way * parts + at.thread] : 0;
      }
    } else if constexpr (kPhase == 1) {
      shared.first_step(at.thread);
    } else if (at.thread < 2) {
      sums[2 * parts + at.thread] = std::sqrt(shared.second_step(at.thread));
    }
  }
};

template <class Rule>
struct UpdateKernel {
  static constexpr const char* kName = Rule::kName.data();
  static constexpr int kPhases = 2;
  static constexpr int kSlots = static_cast<int>(Rule::kSlots.size());
  static_assert(kSlots <= ParameterOnCard::kMaxSlots);
  using Shared = typename Rule::Factors;
  Rule rule;
  ParameterOnCard a;
  bool norms;  // the scratch memory holds the norms
  Index parts = norm_parts(a.count);

  LaunchShape shape() const { return flat_shape<1>(a.count); }
  template <int kPhase>
  WINNOW_DEVICE_FN void run(const Place& at, Shared& shared) const {
    if (a.scalars->finite == 0) return;
    if constexpr (kPhase == 0) {
      if (at.thread == 0) shared = rule.factors(step());
    } else {
      const Shared factors = shared;
      for_flat<1>(at, a.count, [this, &factors](Index i, auto) {
        float value = a.value[i];
        float state[kSlots > 0 ? kSlots : 1];
        for (int k = 0; k < kSlots; ++k) state[k] = a.state[k][i];
        Rule::update(factors, a.gradient[i], value, state);
        a.value[i] = value;
        for (int k = 0; k < kSlots; ++k) a.state[k][i] = state[k];
      });
    }
  }

 private:
  WINNOW_DEVICE_FN TensorStep step() const {
    TensorStep step = step_of(a);
    if (!norms) return step;
    const auto* sums = static_cast<const double*>(a.scratch) + 2 * parts;
    step.value_norm = sums[0];
    (HasDirection<Rule> ? step.direction_norm : step.gradient_norm) = sums[1];
    return step;
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

struct AverageKernel {
  static constexpr const char* kName = "average";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  Average a;

  LaunchShape shape() const { return flat_shape<1>(a.count); }
  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    if (a.scalars->finite == 0) return;
    const Averaging::Factors factors = a.how.factors(a.scalars->step);
    if (!factors.due) return;
    for_flat<1>(at, a.count, [this, &factors](Index i, auto) {
      Averaging::update(factors, a.value[i], a.average[i]);
    });
  }
};

}  // namespace winnow::train::cudnn::kernels
