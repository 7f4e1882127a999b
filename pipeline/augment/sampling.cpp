#include "pipeline/augment/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "pipeline/augment/policies.h"

namespace winnow::pipeline {
namespace {

constexpr int kTries = 10;

float to_float(double value) noexcept { return static_cast<float>(value); }

// Tensor.uniform_(low, high) in single precision, rounded once, as in torch's kernels.
float uniform_in(float low, float high, Draws& draws) {
  return std::fma(draws.uniform(), high - low, low);
}

// Python's round(): rounds half to even.
int rounded(double value) noexcept { return static_cast<int>(std::nearbyint(value)); }

int below(int bound, Draws& draws) {
  return static_cast<int>(draws.below(static_cast<std::uint32_t>(bound)));
}

struct Sides {
  double wide;  // sqrt(area * ratio)
  double high;  // sqrt(area / ratio)
};
Sides random_sides(double pixels, const Interval& area, const Interval& ratio, Draws& draws) {
  const double target = pixels * uniform_in(to_float(area.low), to_float(area.high), draws);
  const auto log_of = [](double value) { return to_float(std::log(double{to_float(value)})); };
  const float log_ratio = uniform_in(log_of(ratio.low), log_of(ratio.high), draws);
  const double aspect = to_float(std::exp(double{log_ratio}));
  return {std::sqrt(target * aspect), std::sqrt(target / aspect)};
}

// torch.linspace, computed from both ends. Sixteen values at a time are two runs of eight, each
// from its first value; the remainder is computed one by one, with a single rounding.
// The last bit matters: one of 31 translations up to 32 pixels is 16; another formula gives
// 15.999999, that is 15.
std::vector<double> linspace(double from, double to, int bins) {
  const float first = to_float(from);
  const float last = to_float(to);
  const float step = (last - first) / static_cast<float>(bins - 1);
  const auto value = [&](int i) {
    return i < bins / 2 ? std::fma(step, static_cast<float>(i), first)
                        : std::fma(-step, static_cast<float>(bins - i - 1), last);
  };
  std::vector<double> values;
  for (int i = 0; i < bins; ++i) {
    const int run = i < bins / 16 * 16 ? i % 8 : 0;
    const float onwards = static_cast<float>(run) * step;
    values.push_back(value(i - run) + onwards);
  }
  return values;
}

std::vector<double> posterize_bits(int bins, int fewest) {
  const double bins_per_bit = static_cast<double>(bins - 1) / (8 - fewest);
  std::vector<double> values;
  for (int i = 0; i < bins; ++i) {
    // The quotient of two one-element tensors has single precision.
    values.push_back(8 - rounded(static_cast<float>(i) / to_float(bins_per_bit)));
  }
  return values;
}

// The operation with the argument that torchvision passes for this magnitude.
Change change_of(Op op, double magnitude) noexcept {
  switch (op) {
    case Op::kBrightness:
    case Op::kSaturation:
    case Op::kContrast:
    case Op::kSharpness:
      return {op, 1.0 + magnitude};
    case Op::kTranslateX:
    case Op::kTranslateY:
    case Op::kPosterize:
      return {op, std::trunc(magnitude)};
    default:
      return {op, magnitude};
  }
}

constexpr Op kOps[] = {Op::kIdentity,     Op::kShearX,    Op::kShearY,     Op::kTranslateX,
                       Op::kTranslateY,   Op::kRotate,    Op::kBrightness, Op::kSaturation,
                       Op::kContrast,     Op::kSharpness, Op::kPosterize,  Op::kSolarize,
                       Op::kAutoContrast, Op::kEqualize};
Op random_op(Draws& draws) {
  return kOps[draws.below(static_cast<std::uint32_t>(std::size(kOps)))];
}

}  // namespace

Box random_resized_crop(int height_px, int width_px, const CropRange& range, Draws& draws) {
  const double pixels = static_cast<double>(height_px) * width_px;
  for (int i = 0; i < kTries; ++i) {
    const Sides sides = random_sides(pixels, range.area, range.ratio, draws);
    const int width = rounded(sides.wide);
    const int height = rounded(sides.high);
    if (width < 1 || width > width_px || height < 1 || height > height_px) continue;
    const int top = below(height_px - height + 1, draws);
    const int left = below(width_px - width + 1, draws);
    return {top, left, height, width};
  }
  const double ratio = static_cast<double>(width_px) / height_px;
  Box box{0, 0, height_px, width_px};
  if (ratio < range.ratio.low) {
    box.height_px = std::clamp(rounded(width_px / range.ratio.low), 1, height_px);
  } else if (ratio > range.ratio.high) {
    box.width_px = std::clamp(rounded(height_px * range.ratio.high), 1, width_px);
  }
  box.top = (height_px - box.height_px) / 2;
  box.left = (width_px - box.width_px) / 2;
  return box;
}

Box random_crop(int height_px, int width_px, int to_height_px, int to_width_px, Draws& draws) {
  if (height_px == to_height_px && width_px == to_width_px) return {0, 0, height_px, width_px};
  const int top = below(height_px - to_height_px + 1, draws);
  const int left = below(width_px - to_width_px + 1, draws);
  return {top, left, to_height_px, to_width_px};
}

bool happens(double probability, Draws& draws) { return draws.uniform() < to_float(probability); }

bool alternating_flip(std::uint32_t epoch, Draws& draws) {
  return (draws.below(2) + epoch) % 2 == 1;
}

std::string_view op_name(Op op) noexcept {
  constexpr std::string_view kNames[] = {"Identity",     "ShearX",    "ShearY",     "TranslateX",
                                         "TranslateY",   "Rotate",    "Brightness", "Color",
                                         "Contrast",     "Sharpness", "Posterize",  "Solarize",
                                         "AutoContrast", "Equalize",  "Invert",     "Hue"};
  return kNames[static_cast<std::size_t>(op)];
}

Changes colour_jitter(const Jitter& jitter, Draws& draws) {
  std::array<std::size_t, 4> order{0, 1, 2, 3};
  for (std::size_t i = 0; i < 3; ++i) {
    std::swap(order[i], order[i + draws.below(static_cast<std::uint32_t>(4 - i))]);
  }
  const auto factor = [&](double most) {
    return double{uniform_in(to_float(std::max(0.0, 1 - most)), to_float(1 + most), draws)};
  };
  std::array<std::optional<Change>, 4> changes;
  if (jitter.brightness > 0) changes[0] = {Op::kBrightness, factor(jitter.brightness)};
  if (jitter.contrast > 0) changes[1] = {Op::kContrast, factor(jitter.contrast)};
  if (jitter.saturation > 0) changes[2] = {Op::kSaturation, factor(jitter.saturation)};
  if (jitter.hue > 0) {
    const float most = to_float(jitter.hue);
    changes[3] = {Op::kHue, double{uniform_in(-most, most, draws)}};
  }
  Changes out;
  for (const std::size_t i : order) {
    if (changes[i]) out.push_back(*changes[i]);
  }
  return out;
}

Magnitudes magnitudes(Op op, Space space, int bins, int height_px, int width_px) {
  const bool wide = space == Space::kWide;
  constexpr double kFarthest = 150.0 / 331.0;  // largest translation, as a share
  switch (op) {
    case Op::kShearX:
    case Op::kShearY:
      return {linspace(0, wide ? 0.99 : 0.3, bins), true};
    case Op::kTranslateX:
      return {linspace(0, wide ? 32.0 : kFarthest * width_px, bins), true};
    case Op::kTranslateY:
      return {linspace(0, wide ? 32.0 : kFarthest * height_px, bins), true};
    case Op::kRotate:
      return {linspace(0, wide ? 135.0 : 30.0, bins), true};
    case Op::kBrightness:
    case Op::kSaturation:
    case Op::kContrast:
    case Op::kSharpness:
      return {linspace(0, wide ? 0.99 : 0.9, bins), true};
    case Op::kPosterize:
      return {posterize_bits(bins, wide ? 2 : 4), false};
    case Op::kSolarize:
      return {linspace(255, 0, bins), false};
    default:
      return {};
  }
}

Changes rand_augment(const RandAugment& options, int height_px, int width_px, Draws& draws) {
  Changes changes;
  for (int i = 0; i < options.count; ++i) {
    const Op op = random_op(draws);
    const Magnitudes table = magnitudes(op, Space::kUsual, options.bins, height_px, width_px);
    double magnitude =
        table.values.empty() ? 0 : table.values[static_cast<std::size_t>(options.magnitude)];
    if (table.has_sign && draws.below(2) == 1) magnitude = -magnitude;
    changes.push_back(change_of(op, magnitude));
  }
  return changes;
}

Changes trivial_augment_wide(int bins, int height_px, int width_px, Draws& draws) {
  const Op op = random_op(draws);
  const Magnitudes table = magnitudes(op, Space::kWide, bins, height_px, width_px);
  double magnitude = 0;
  if (!table.values.empty()) {
    magnitude = table.values[draws.below(static_cast<std::uint32_t>(table.values.size()))];
  }
  if (table.has_sign && draws.below(2) == 1) magnitude = -magnitude;
  return {change_of(op, magnitude)};
}

Changes auto_augment(Policy policy, int height_px, int width_px, Draws& draws) {
  constexpr int kBins = 10;
  const std::span<const SubPolicy> policies = policy_table(policy);
  const SubPolicy& chosen = policies[draws.below(static_cast<std::uint32_t>(policies.size()))];
  const float chance[2] = {draws.uniform(), draws.uniform()};
  const std::uint32_t sign[2] = {draws.below(2), draws.below(2)};
  Changes changes;
  for (std::size_t i = 0; i < 2; ++i) {
    const PolicyStep& step = chosen[i];
    if (chance[i] > to_float(step.probability)) continue;
    const Magnitudes table = magnitudes(step.op, Space::kUsual, kBins, height_px, width_px);
    double magnitude = table.values.empty() ? 0 : table.values[static_cast<std::size_t>(step.bin)];
    if (table.has_sign && sign[i] == 0) magnitude = -magnitude;
    changes.push_back(change_of(step.op, magnitude));
  }
  return changes;
}

std::optional<Box> random_erasing(const Erasing& options, int height_px, int width_px,
                                  Draws& draws) {
  if (!happens(options.probability, draws)) return std::nullopt;
  const double pixels = static_cast<double>(height_px) * width_px;
  for (int i = 0; i < kTries; ++i) {
    const Sides sides = random_sides(pixels, options.area, options.ratio, draws);
    const int height = rounded(sides.wide);  // here the ratio is height / width
    const int width = rounded(sides.high);
    if (height >= height_px || width >= width_px) continue;
    const int top = below(height_px - height + 1, draws);
    const int left = below(width_px - width + 1, draws);
    return Box{top, left, height, width};
  }
  return std::nullopt;
}

Box cutout(int side_px, int height_px, int width_px, Draws& draws) {
  const int half = side_px / 2;
  const int y = below(height_px, draws);
  const int x = below(width_px, draws);
  return {y - half, x - half, 2 * half, 2 * half};
}

Shift random_translation(double share_x, double share_y, int height_px, int width_px,
                         Draws& draws) {
  const auto within = [&](double most) {
    return rounded(double{uniform_in(to_float(-most), to_float(most), draws)});
  };
  const int right = within(share_x * width_px);
  const int down = within(share_y * height_px);
  return {right, down};
}

}  // namespace winnow::pipeline
