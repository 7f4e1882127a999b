#include "train/backend/onednn/kernels/base_internal.h"
#include "train/backend/onednn/kernels/exponential_internal.h"
#include "train/backend/onednn/kernels/functions_internal.h"

namespace winnow::train::kernels::WINNOW_ISA {
namespace {

Floats sigmoid(Floats x) { return 1.0F / (1.0F + exponential(-x)); }

Floats bounded(Floats x, float least_x, float greatest_x) {
  x = x <= least_x ? Floats{} + least_x : x;
  return x >= greatest_x ? Floats{} + greatest_x : x;
}

// The normal distribution function: half of erfc(z) by a Chebyshev fit with a relative error of at
// most 1.2e-7, also in the tail (Press et al., "Numerical recipes", section 6.2).
Floats normal_below(Floats x) {
  const Floats z = (x < 0 ? -x : x) * 0.70710678118654752F;
  const Floats t = 1.0F / (1.0F + 0.5F * z);
  Floats p = Floats{} + 0.17087277F;
  p = p * t - 0.82215223F;
  p = p * t + 1.48851587F;
  p = p * t - 1.13520398F;
  p = p * t + 0.27886807F;
  p = p * t - 0.18628806F;
  p = p * t + 0.09678418F;
  p = p * t + 0.37409196F;
  p = p * t + 1.00002368F;
  p = p * t - 1.26551223F;
  const Floats beyond = 0.5F * t * exponential(p - z * z);
  return x < 0 ? beyond : 1.0F - beyond;
}

struct Relu6 {
  static Floats value(Floats x) { return bounded(x, 0, 6); }
  static Floats slope(Floats x) { return (x > 0) & (x < 6) ? Floats{} + 1.0F : Floats{}; }
};
struct Sigmoid {
  static Floats value(Floats x) { return sigmoid(x); }
  static Floats slope(Floats x) { return sigmoid(x) * sigmoid(-x); }
};
struct HardSigmoid {
  static Floats value(Floats x) { return bounded(x + 3.0F, 0, 6) / 6.0F; }
  static Floats slope(Floats x) { return (x > -3) & (x < 3) ? Floats{} + 1.0F / 6.0F : Floats{}; }
};
struct HardSwish {
  static Floats value(Floats x) { return x * HardSigmoid::value(x); }
  static Floats slope(Floats x) {
    const Floats outside = x >= 3 ? Floats{} + 1.0F : Floats{};
    return (x > -3) & (x < 3) ? x / 3.0F + 0.5F : outside;
  }
};
struct Silu {
  static Floats value(Floats x) { return x * sigmoid(x); }
  static Floats slope(Floats x) { return sigmoid(x) * (1.0F + x * sigmoid(-x)); }
};
struct Gelu {
  static Floats value(Floats x) { return x * normal_below(x); }
  static Floats slope(Floats x) {
    return normal_below(x) + x * exponential(x * x * -0.5F) * 0.39894228040143268F;
  }
};

template <class T, class Curve, bool kBackward>
void activate(const Elementwise& e, int threads) {
  const auto* x = static_cast<const T*>(e.a);
  const auto* dy = static_cast<const T*>(e.b);
  auto* y = static_cast<T*>(e.y);
  parallel_pieces(e.count, kGrain, threads, [=](Index begin, Index end) {
    for_blocks(end - begin, [=](Index i, int lanes) {
      const Index at = begin + i;
      const Floats v = load_block(x + at, lanes);
      if constexpr (kBackward) {
        store_block(y + at, load_block(dy + at, lanes) * Curve::slope(v), lanes);
      } else {
        store_block(y + at, Curve::value(v), lanes);
      }
    });
  });
}

template <class Curve, bool kBackward>
void activate_typed(const Elementwise& e, int threads) {
  typed<Elementwise, activate<float, Curve, kBackward>, activate<Bf16, Curve, kBackward>>(e,
                                                                                          threads);
}

template <bool kBackward>
void activate_kind(const Activate& a, int threads) {
  switch (a.kind) {
    case ActivationKind::kRelu6:
      return activate_typed<Relu6, kBackward>(a.of, threads);
    case ActivationKind::kSigmoid:
      return activate_typed<Sigmoid, kBackward>(a.of, threads);
    case ActivationKind::kHardSigmoid:
      return activate_typed<HardSigmoid, kBackward>(a.of, threads);
    case ActivationKind::kHardSwish:
      return activate_typed<HardSwish, kBackward>(a.of, threads);
    case ActivationKind::kSilu:
      return activate_typed<Silu, kBackward>(a.of, threads);
    case ActivationKind::kGelu:
      return activate_typed<Gelu, kBackward>(a.of, threads);
  }
}

}  // namespace

void activation(const Activate& a, int threads) { activate_kind<false>(a, threads); }
void activation_backward(const Activate& a, int threads) { activate_kind<true>(a, threads); }

}  // namespace winnow::train::kernels::WINNOW_ISA
