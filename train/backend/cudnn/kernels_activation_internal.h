#pragma once

#include <cmath>

#include "train/backend/cudnn/kernels_elementwise_internal.h"
#include "train/backend/cudnn/kernels_launch_internal.h"

namespace winnow::train::cudnn::kernels {

WINNOW_DEVICE_FN float sigmoid(float x) { return 1.0F / (1.0F + std::exp(-x)); }
WINNOW_DEVICE_FN float bounded(float x, float least_x, float greatest_x) {
  x = x <= least_x ? least_x : x;  // NaN stays NaN
  return x >= greatest_x ? greatest_x : x;
}
WINNOW_DEVICE_FN float normal_below(float x) { return 0.5F * std::erfc(x * -0.70710678118654752F); }

struct Relu6Curve {
  WINNOW_DEVICE_FN static float value(float x) { return bounded(x, 0, 6); }
  WINNOW_DEVICE_FN static float slope(float x) { return x > 0 && x < 6 ? 1.0F : 0.0F; }
};
struct SigmoidCurve {
  WINNOW_DEVICE_FN static float value(float x) { return sigmoid(x); }
  WINNOW_DEVICE_FN static float slope(float x) { return sigmoid(x) * sigmoid(-x); }
};
struct HardSigmoidCurve {
  WINNOW_DEVICE_FN static float value(float x) { return bounded(x + 3.0F, 0, 6) / 6.0F; }
  WINNOW_DEVICE_FN static float slope(float x) { return x > -3 && x < 3 ? 1.0F / 6.0F : 0.0F; }
};
struct HardSwishCurve {
  WINNOW_DEVICE_FN static float value(float x) { return x * HardSigmoidCurve::value(x); }
  WINNOW_DEVICE_FN static float slope(float x) {
    if (x > -3 && x < 3) return x / 3.0F + 0.5F;
    return x >= 3 ? 1.0F : 0.0F;
  }
};
struct SiluCurve {
  WINNOW_DEVICE_FN static float value(float x) { return x * sigmoid(x); }
  WINNOW_DEVICE_FN static float slope(float x) { return sigmoid(x) * (1.0F + x * sigmoid(-x)); }
};
struct GeluCurve {
  WINNOW_DEVICE_FN static float value(float x) { return x * normal_below(x); }
  WINNOW_DEVICE_FN static float slope(float x) {
    return normal_below(x) + x * 0.39894228040143268F * std::exp(-0.5F * x * x);
  }
};

template <class Curve>
struct ValueOf {
  WINNOW_DEVICE_FN float operator()(float x, float) const { return Curve::value(x); }
};
template <class Curve>
struct SlopeTimes {
  WINNOW_DEVICE_FN float operator()(float x, float dy) const { return dy * Curve::slope(x); }
};

template <class Launcher, template <class> class Function>
void activate(const Activate& a, Stream& stream) {
  switch (a.kind) {
    case ActivationKind::kRelu6:
      return elementwise<Launcher, Function<Relu6Curve>>(a.of, stream);
    case ActivationKind::kSigmoid:
      return elementwise<Launcher, Function<SigmoidCurve>>(a.of, stream);
    case ActivationKind::kHardSigmoid:
      return elementwise<Launcher, Function<HardSigmoidCurve>>(a.of, stream);
    case ActivationKind::kHardSwish:
      return elementwise<Launcher, Function<HardSwishCurve>>(a.of, stream);
    case ActivationKind::kSilu:
      return elementwise<Launcher, Function<SiluCurve>>(a.of, stream);
    case ActivationKind::kGelu:
      return elementwise<Launcher, Function<GeluCurve>>(a.of, stream);
  }
}

}  // namespace winnow::train::cudnn::kernels
