#pragma once

#include "train/backend/cudnn/kernels_base_internal.h"
#include "train/backend/cudnn/kernels_launch_internal.h"

// Kernels of the Barlow Twins loss. Its cost is small compared with the net, so products are simple
// loops.
namespace winnow::train::cudnn::kernels {

using train::kernels::twins_scratch;
using train::kernels::twins_width;
using train::kernels::TwinsLayer;
using train::kernels::TwinsScratch;

// One feature column of one of the two views.
struct TwinsColumn {
  Index view, column;
};
WINNOW_DEVICE_FN TwinsColumn twins_column(const TwinsLayer& layer, Index i) {
  const QuotientRest at = split(i, layer.features);
  return {at.quotient, at.rest};
}

// Normalises both views to mean 0 and variance 1, with one thread for each feature column.
template <class T>
struct TwinsNormalKernel {
  static constexpr const char* kName = "views, normalised";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  BarlowTwins a;

  LaunchShape shape() const { return flat_shape<1>(2 * a.layer.features); }
  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    for_flat<1>(at, 2 * a.layer.features, [this](Index i, auto) {
      const TwinsColumn of = twins_column(a.layer, i);
      const TwinsScratch s = twins_scratch(a.layer, a.scratch);
      const Index width = twins_width(a.layer);
      const auto z = [&](Index n) {
        const Index row = 2 * n + of.view;
        return static_cast<double>(
            as_float(static_cast<const T*>(a.z)[row * a.layer.features + of.column]));
      };
      const auto pairs = static_cast<double>(a.layer.pairs);
      double mean = 0;
      for (Index n = 0; n < a.layer.pairs; ++n) mean += z(n);
      mean /= pairs;
      double squares = 0;
      for (Index n = 0; n < a.layer.pairs; ++n) squares += (z(n) - mean) * (z(n) - mean);
      const double inverse = 1 / std::sqrt(squares / pairs + a.layer.epsilon);
      s.inverse[of.view * width + of.column] = static_cast<float>(inverse);
      for (Index n = 0; n < a.layer.pairs; ++n) {
        s.normal[(of.view * a.layer.pairs + n) * width + of.column] =
            static_cast<float>((z(n) - mean) * inverse);
      }
    });
  }
};

// Computes the cross-correlation matrix of the two views, with one thread for each element.
struct TwinsCorrelationKernel {
  static constexpr const char* kName = "cross-correlation";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  BarlowTwins a;

  LaunchShape shape() const { return flat_shape<1>(a.layer.features * a.layer.features); }
  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    for_flat<1>(at, a.layer.features * a.layer.features, [this](Index i, auto) {
      const QuotientRest to = split(i, a.layer.features);
      const TwinsScratch s = twins_scratch(a.layer, a.scratch);
      const Index width = twins_width(a.layer);
      const float* second = s.normal + a.layer.pairs * width;
      float sum = 0;
      for (Index n = 0; n < a.layer.pairs; ++n) {
        sum += s.normal[n * width + to.quotient] * second[n * width + to.rest];
      }
      s.correlation[to.quotient * width + to.rest] = sum / static_cast<float>(a.layer.pairs);
    });
  }
};

// Computes the loss contribution of each row of the cross-correlation matrix, with one thread block
// for each row.
struct TwinsRowsKernel {
  static constexpr const char* kName = "rows of the cross-correlation";
  static constexpr int kPhases = 3;
  using Shared = BlockSums<1>;
  BarlowTwins a;

  LaunchShape shape() const { return {a.layer.features, kThreads}; }
  template <int kPhase>
  WINNOW_DEVICE_FN void run(const Place& at, Shared& shared) const {
    if (at.block >= a.layer.features) return;
    const TwinsScratch s = twins_scratch(a.layer, a.scratch);
    if constexpr (kPhase == 0) {
      const float* row = s.correlation + at.block * twins_width(a.layer);
      double sum = 0;
      for (Index j = at.thread; j < a.layer.features; j += kThreads) {
        const auto c = static_cast<double>(row[j]);
        sum += j == at.block ? (1 - c) * (1 - c) : a.layer.redundancy * c * c;
      }
      shared.at[0][at.thread] = sum;
    } else if constexpr (kPhase == 1) {
      shared.first_step(at.thread);
    } else if (at.thread == 0) {
      s.rows[at.block] = shared.second_step(0);
    }
  }
};

// Computes totals in one thread block. Forward: the loss. Backward: only the sum of the sample
// weights, which is stored after the row sums.
template <bool kForward>
struct TwinsTotalKernel {
  static constexpr const char* kName = kForward ? "loss of twins" : "weight of twins";
  static constexpr int kPhases = kForward ? 4 : 3;
  enum Way { kRows, kWeights, kWays };
  struct Shared {
    BlockSums<kWays> sums;
    double loss;
  };
  BarlowTwins a;

  LaunchShape shape() const { return {1, kThreads}; }
  template <int kPhase>
  WINNOW_DEVICE_FN void run(const Place& at, Shared& shared) const {
    const Index samples = 2 * a.layer.pairs;
    const TwinsScratch s = twins_scratch(a.layer, a.scratch);
    if constexpr (kPhase == 0) {
      double rows = 0;
      double weights = 0;
      for (Index i = at.thread; kForward && i < a.layer.features; i += kThreads) rows += s.rows[i];
      for (Index n = at.thread; n < samples; n += kThreads) weights += a.weights[n];
      shared.sums.at[kRows][at.thread] = rows;
      shared.sums.at[kWeights][at.thread] = weights;
    } else if constexpr (kPhase == 1) {
      shared.sums.first_step(at.thread);
    } else if constexpr (kPhase == 2) {
      if (at.thread != 0) return;
      const double weight = shared.sums.second_step(kWeights);
      if constexpr (kForward) {
        shared.loss = shared.sums.second_step(kRows) / static_cast<double>(a.layer.features);
        *a.loss = static_cast<float>(shared.loss * weight);
      } else {
        s.rows[twins_width(a.layer)] = weight;
      }
    } else {
      for (Index n = at.thread; n < samples; n += kThreads) {
        a.per_sample[n] = static_cast<float>(shared.loss);
      }
    }
  }
};

// Replaces the cross-correlation matrix by the loss's gradient with respect to it, with one thread
// for each element.
struct TwinsSlopesKernel {
  static constexpr const char* kName = "slopes of the cross-correlation";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  BarlowTwins a;

  LaunchShape shape() const { return flat_shape<1>(a.layer.features * a.layer.features); }
  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    for_flat<1>(at, a.layer.features * a.layer.features, [this](Index i, auto) {
      const QuotientRest to = split(i, a.layer.features);
      const TwinsScratch s = twins_scratch(a.layer, a.scratch);
      const Index width = twins_width(a.layer);
      float& c = s.correlation[to.quotient * width + to.rest];
      const double own = 2 * s.rows[width] / static_cast<double>(a.layer.features);
      c = to.quotient == to.rest ? static_cast<float>(own) * (c - 1)
                                 : static_cast<float>(own * a.layer.redundancy) * c;
    });
  }
};

// Computes the gradient with respect to the normalised views, with one thread for each element.
struct TwinsGradientKernel {
  static constexpr const char* kName = "gradient of views, normalised";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  BarlowTwins a;

  LaunchShape shape() const { return flat_shape<1>(2 * a.layer.pairs * a.layer.features); }
  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    for_flat<1>(at, 2 * a.layer.pairs * a.layer.features, [this](Index i, auto) {
      // Quotient: row among both views; rest: feature column.
      const QuotientRest to = split(i, a.layer.features);
      const Index view = to.quotient < a.layer.pairs ? 0 : 1;
      const TwinsScratch s = twins_scratch(a.layer, a.scratch);
      const Index width = twins_width(a.layer);
      const Index other = to.quotient + (view == 0 ? a.layer.pairs : -a.layer.pairs);
      const float* by = s.normal + other * width;
      const float* slopes = s.correlation + to.rest * (view == 0 ? width : 1);
      const Index step = view == 0 ? 1 : width;
      float sum = 0;
      for (Index k = 0; k < a.layer.features; ++k) sum += slopes[k * step] * by[k];
      s.gradient[to.quotient * width + to.rest] = sum / static_cast<float>(a.layer.pairs);
    });
  }
};

// Computes the gradient with respect to the views: dz = inverse * (g - mean(g) - normal * mean(g *
// normal)), where g is the gradient with respect to the normalised view. One thread for each
// feature column.
template <class T>
struct TwinsBackwardKernel {
  static constexpr const char* kName = "gradient of views";
  static constexpr int kPhases = 1;
  using Shared = NoShared;
  BarlowTwins a;

  LaunchShape shape() const { return flat_shape<1>(2 * a.layer.features); }
  template <int>
  WINNOW_DEVICE_FN void run(const Place& at, Shared&) const {
    for_flat<1>(at, 2 * a.layer.features, [this](Index i, auto) {
      const TwinsColumn of = twins_column(a.layer, i);
      const TwinsScratch s = twins_scratch(a.layer, a.scratch);
      const Index width = twins_width(a.layer);
      const Index first = of.view * a.layer.pairs * width + of.column;
      double mean = 0;
      double mean_product = 0;
      for (Index n = 0; n < a.layer.pairs; ++n) {
        const auto g = static_cast<double>(s.gradient[first + n * width]);
        mean += g;
        mean_product += g * static_cast<double>(s.normal[first + n * width]);
      }
      mean /= static_cast<double>(a.layer.pairs);
      mean_product /= static_cast<double>(a.layer.pairs);
      const auto inverse = static_cast<double>(s.inverse[of.view * width + of.column]);
      for (Index n = 0; n < a.layer.pairs; ++n) {
        const auto g = static_cast<double>(s.gradient[first + n * width]);
        const auto normal = static_cast<double>(s.normal[first + n * width]);
        static_cast<T*>(a.dz)[(2 * n + of.view) * a.layer.features + of.column] =
            element<T>(static_cast<float>(inverse * (g - mean - normal * mean_product)));
      }
    });
  }
};

template <class Launcher>
void twins_correlation(const BarlowTwins& a, Stream& stream) {
  by_type(a.layer.type, [&](auto type) {
    launch<Launcher>(TwinsNormalKernel<TypeOf<decltype(type)>>{a}, stream);
  });
  launch<Launcher>(TwinsCorrelationKernel{a}, stream);
}

template <class Launcher>
void barlow_twins(const BarlowTwins& a, Stream& stream) {
  twins_correlation<Launcher>(a, stream);
  launch<Launcher>(TwinsRowsKernel{a}, stream);
  launch<Launcher>(TwinsTotalKernel<true>{a}, stream);
}

template <class Launcher>
void barlow_twins_backward(const BarlowTwins& a, Stream& stream) {
  twins_correlation<Launcher>(a, stream);
  launch<Launcher>(TwinsTotalKernel<false>{a}, stream);
  launch<Launcher>(TwinsSlopesKernel{a}, stream);
  launch<Launcher>(TwinsGradientKernel{a}, stream);
  by_type(a.layer.type, [&](auto type) {
    launch<Launcher>(TwinsBackwardKernel<TypeOf<decltype(type)>>{a}, stream);
  });
}

}  // namespace winnow::train::cudnn::kernels
