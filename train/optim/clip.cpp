#include "train/optim/clip.h"

#include <algorithm>
#include <cmath>

namespace winnow::train {
namespace {

// Uses eight partial sums, so that the compiler can vectorise. Squares of floats are exact in
// double, so FMA contraction changes no bit.
double sum_of_squares(std::span<const float> values) {
  constexpr std::size_t kSums = 8;
  std::array<double, kSums> sums{};
  std::size_t i = 0;
  for (; i + kSums <= values.size(); i += kSums) {
    for (std::size_t k = 0; k < kSums; ++k) {
      sums[k] += static_cast<double>(values[i + k]) * static_cast<double>(values[i + k]);
    }
  }
  for (; i < values.size(); ++i) sums[0] += static_cast<double>(values[i]) * values[i];
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

}  // namespace

GradientClip clip_from(const OptionValues& given) {
  const ChosenOptions chosen(kClipOptions, given);
  return {.norm = chosen.number("clip_grad_norm"), .value = chosen.number("clip_grad_value")};
}

double norm_of(std::span<const std::span<float>> tensors) {
  double sum = 0;
  for (const std::span<float> tensor : tensors) sum += sum_of_squares(tensor);
  return std::sqrt(sum);
}

std::optional<double> clip_gradients(std::span<const std::span<float>> gradients,
                                     const GradientClip& clip) {
  if (clip.value > 0) {
    const auto most = static_cast<float>(clip.value);
    for (const std::span<float> gradient : gradients) {
      for (float& g : gradient) g = std::clamp(g, -most, most);
    }
  }
  if (clip.norm == 0) return std::nullopt;
  constexpr double kEpsilon = 1e-6;  // as in PyTorch
  const double norm = norm_of(gradients);
  const auto factor = static_cast<float>(clip.norm / (norm + kEpsilon));
  if (factor >= 1) return norm;
  for (const std::span<float> gradient : gradients) {
    for (float& g : gradient) g *= factor;
  }
  return norm;
}

std::optional<double> clip_by_stage(const std::vector<std::vector<std::span<float>>>& stages,
                                    const GradientClip& clip) {
  std::optional<double> all;
  for (const std::vector<std::span<float>>& gradients : stages) {
    const std::optional<double> norm = clip_gradients(gradients, clip);
    if (norm) all = all ? std::hypot(*all, *norm) : *norm;
  }
  return all;
}

}  // namespace winnow::train
