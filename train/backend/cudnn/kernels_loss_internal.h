#pragma once

#include "train/backend/cudnn/kernels_base_internal.h"

// Kernels of losses, with one thread block for each sample. They compute in f64, because their cost
// is small compared with the net.
namespace winnow::train::cudnn::kernels {

enum class LossPass : std::uint8_t { kForward, kBackward };

template <class T, LossPass kPass>
struct LossKernel {
  static constexpr const char* kName =
      kPass == LossPass::kForward ? "cross entropy" : "cross entropy, backward";
  static constexpr int kPhases = kPass == LossPass::kForward ? 6 : 7;
  // Sums over the classes that the kernel needs.
  enum Way { kExp, kTarget, kTargetLogit, kLogit, kWays };
  struct Shared {
    float greatest[kThreads];
    BlockSums<kWays> sums;
    double log_sum;  // log of the sum of exp(logit - greatest logit)
    double targets;  // sum of the targets of the sample
  };
  Loss a;

  LaunchShape shape() const { return {greatest(1, a.layer.batch), kThreads}; }

  template <int kPhase>
  WINNOW_DEVICE_FN void run(const Place& at, Shared& shared) const {
    if (at.block >= a.layer.batch) return;
    const T* logits = static_cast<const T*>(a.logits) + at.block * a.layer.classes;
    const float* targets = a.targets + at.block * a.layer.classes;
    if constexpr (kPhase == 0) {
      float top = as_float(logits[0]);
      for (Index k = at.thread; k < a.layer.classes; k += kThreads) {
        const float v = as_float(logits[k]);
        if (v > top) top = v;
      }
      shared.greatest[at.thread] = top;
    } else if constexpr (kPhase == 1) {
      reduce_greatest(shared, at.thread, kFew, kThreads / kFew, 1);
    } else if constexpr (kPhase == 2) {
      reduce_greatest(shared, at.thread, 1, kFew, kThreads / kFew);
    } else if constexpr (kPhase == 3) {
      double sums[kWays] = {};
      for (Index k = at.thread; k < a.layer.classes; k += kThreads) {
        const double logit = static_cast<double>(as_float(logits[k])) - shared.greatest[0];
        sums[kExp] += std::exp(logit);
        sums[kTarget] += targets[k];
        sums[kTargetLogit] += targets[k] * logit;
        sums[kLogit] += logit;
      }
      for (int way = 0; way < kWays; ++way) shared.sums.at[way][at.thread] = sums[way];
    } else if constexpr (kPhase == 4) {
      shared.sums.first_step(at.thread);
    } else if constexpr (kPhase == 5) {
      if (at.thread == 0) finish(at.block, shared);
    } else {
      const double weight = a.weights[at.block];
      T* to = static_cast<T*>(a.dlogits) + at.block * a.layer.classes;
      for (Index k = at.thread; k < a.layer.classes; k += kThreads) {
        const double logit = static_cast<double>(as_float(logits[k])) - shared.greatest[0];
        const double target = (1 - a.layer.smoothing) * targets[k] + even(shared.targets);
        to[k] = element<T>(static_cast<float>(
            weight * (std::exp(logit - shared.log_sum) * shared.targets - target)));
      }
    }
  }

 private:
  WINNOW_DEVICE_FN double even(double targets) const {
    return a.layer.smoothing / static_cast<double>(a.layer.classes) * targets;
  }

  WINNOW_DEVICE_FN static void reduce_greatest(Shared& shared, int thread, int threads, int count,
                                               int step) {
    if (thread >= threads) return;
    const int first = thread * count * step;
    float top = shared.greatest[first];
    for (int i = 1; i < count; ++i) {
      const float v = shared.greatest[first + i * step];
      if (v > top) top = v;
    }
    shared.greatest[first] = top;
  }

  WINNOW_DEVICE_FN void finish(Index sample, Shared& shared) const {
    double sums[kWays];
    for (int way = 0; way < kWays; ++way) sums[way] = shared.sums.second_step(way);
    shared.log_sum = std::log(sums[kExp]);
    shared.targets = sums[kTarget];
    if constexpr (kPass == LossPass::kForward) {
      // loss = -sum t * (logit - greatest - log_sum), with t = (1 - smoothing) * target + even
      const double share = 1 - a.layer.smoothing;
      const double e = even(sums[kTarget]);
      const double smoothed = share * sums[kTarget] + e * static_cast<double>(a.layer.classes);
      a.per_sample[sample] = static_cast<float>(smoothed * shared.log_sum -
                                                (share * sums[kTargetLogit] + e * sums[kLogit]));
    }
  }
};

template <class T, LossPass kPass>
struct SigmoidLossKernel {
  static constexpr const char* kName =
      kPass == LossPass::kForward ? "sigmoid cross entropy" : "sigmoid cross entropy, backward";
  static constexpr int kPhases = kPass == LossPass::kForward ? 6 : 4;
  struct Shared {
    BlockSums<1> sums;
    double even;  // label smoothing: added to each target
  };
  SigmoidLoss a;

  LaunchShape shape() const { return {greatest(1, a.of.layer.batch), kThreads}; }

  template <int kPhase>
  WINNOW_DEVICE_FN void run(const Place& at, Shared& shared) const {
    const LossLayer& layer = a.of.layer;
    if (at.block >= layer.batch) return;
    const T* logits = static_cast<const T*>(a.of.logits) + at.block * layer.classes;
    const float* targets = a.of.targets + at.block * layer.classes;
    const auto target = [&](Index k) { return (1 - layer.smoothing) * targets[k] + shared.even; };
    const auto logit = [&](Index k) { return static_cast<double>(as_float(logits[k])); };
    if constexpr (kPhase == 0) {
      double sum = 0;
      for (Index k = at.thread; k < layer.classes; k += kThreads) sum += targets[k];
      shared.sums.at[0][at.thread] = sum;
    } else if constexpr (kPhase == 1 || kPhase == 4) {
      shared.sums.first_step(at.thread);
    } else if constexpr (kPhase == 2) {
      if (at.thread != 0) return;
      shared.even =
          layer.smoothing / static_cast<double>(layer.classes) * shared.sums.second_step(0);
    } else if constexpr (kPhase == 3 && kPass == LossPass::kForward) {
      double sum = 0;
      for (Index k = at.thread; k < layer.classes; k += kThreads) {
        sum += sigmoid_loss_of(a.focal, logit(k), target(k));
      }
      shared.sums.at[0][at.thread] = sum;
    } else if constexpr (kPhase == 3) {
      const double weight = a.of.weights[at.block] * a.share;
      T* to = static_cast<T*>(a.of.dlogits) + at.block * layer.classes;
      for (Index k = at.thread; k < layer.classes; k += kThreads) {
        to[k] =
            element<T>(static_cast<float>(weight * sigmoid_slope_of(a.focal, logit(k), target(k))));
      }
    } else if (at.thread == 0) {
      a.of.per_sample[at.block] = static_cast<float>(a.share * shared.sums.second_step(0));
    }
  }
};

struct TotalLossKernel {
  static constexpr const char* kName = "sum of losses";
  static constexpr int kPhases = 3;
  using Shared = BlockSums<1>;
  Loss a;

  LaunchShape shape() const { return {1, kThreads}; }

  template <int kPhase>
  WINNOW_DEVICE_FN void run(const Place& at, Shared& shared) const {
    if constexpr (kPhase == 0) {
      const Index each = ceil_div(a.layer.batch, kThreads);
      double sum = 0;
      for (Index n = at.thread * each; n < least(a.layer.batch, (at.thread + 1) * each); ++n) {
        sum += static_cast<double>(a.weights[n]) * static_cast<double>(a.per_sample[n]);
      }
      shared.at[0][at.thread] = sum;
    } else if constexpr (kPhase == 1) {
      shared.first_step(at.thread);
    } else if (at.thread == 0) {
      *a.loss = static_cast<float>(shared.second_step(0));
    }
  }
};

}  // namespace winnow::train::cudnn::kernels
