#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "pipeline/augment/mix.h"
#include "pipeline/augment/sampling.h"

namespace winnow::pipeline {

// The steps of augmentation recipes with their parameters. The quoted name is that of recipe texts.

// "resized_crop": cuts a part of random area and aspect ratio and resizes it to the net's size.
// Only allowed as the first step.
struct ResizedCropStep {
  CropRange range;
  friend bool operator==(const ResizedCropStep&, const ResizedCropStep&) = default;
};
// "centre_crop": resizes the shorter side to this length, then cuts the centre. Only allowed as the
// first step.
struct CentreCropStep {
  int resize_px = 256;
  friend bool operator==(const CentreCropStep&, const CentreCropStep&) = default;
};
enum class Padding { kZero, kReflect };
// "crop": pads the image, then cuts the original size at a random position.
struct CropStep {
  int padding_px = 4;
  Padding mode = Padding::kZero;
  friend bool operator==(const CropStep&, const CropStep&) = default;
};
// "flip": mirrors the image left to right with this probability.
struct FlipStep {
  double probability = 0.5;
  friend bool operator==(const FlipStep&, const FlipStep&) = default;
};
// "alternating_flip": mirrors at random in the first epoch, then in every other epoch.
struct AlternatingFlipStep {
  friend bool operator==(const AlternatingFlipStep&, const AlternatingFlipStep&) = default;
};
// "translate": shifts the image by up to these shares of width and height; fills with zeros.
struct TranslateStep {
  double x = 0.1;
  double y = 0.1;
  friend bool operator==(const TranslateStep&, const TranslateStep&) = default;
};
// "jitter": changes brightness, contrast, saturation and hue at random.
struct JitterStep {
  Jitter jitter{0.4, 0.4, 0.4, 0.1};
  friend bool operator==(const JitterStep&, const JitterStep&) = default;
};
// "rand_augment", "trivial_augment", "auto_augment": policies of random operations, as in
// torchvision.
struct RandAugmentStep {
  RandAugment options;
  Interpolation interpolation = Interpolation::kNearest;
  friend bool operator==(const RandAugmentStep&, const RandAugmentStep&) = default;
};
struct TrivialAugmentStep {
  int bins = 31;
  Interpolation interpolation = Interpolation::kNearest;
  friend bool operator==(const TrivialAugmentStep&, const TrivialAugmentStep&) = default;
};
struct AutoAugmentStep {
  Policy policy = Policy::kImageNet;
  Interpolation interpolation = Interpolation::kNearest;
  friend bool operator==(const AutoAugmentStep&, const AutoAugmentStep&) = default;
};
// ImageNet's mean colour, with which torchvision's recipes erase: 0 after normalisation.
using Colour = std::array<std::uint8_t, 3>;
inline constexpr Colour kMeanColour{124, 116, 104};
// The content of an erased area: one colour, or noise that is normally distributed per pixel and
// channel with the data set's Levels.
struct Fill {
  Colour colour = kMeanColour;
  bool random = false;
  friend bool operator==(const Fill&, const Fill&) = default;
};
// "erase": replaces a random rectangle.
struct EraseStep {
  Erasing erasing;
  Fill value;
  friend bool operator==(const EraseStep&, const EraseStep&) = default;
};
// "cutout": erases a square around a random pixel.
struct CutoutStep {
  int side_px = 16;
  Colour value = kMeanColour;
  friend bool operator==(const CutoutStep&, const CutoutStep&) = default;
};

// "mixup" and "cutmix": mix the samples of a batch. Only allowed as last steps; with both, each
// batch gets one of them.
struct MixupStep {
  Mixing::Kind kind{.alpha = 0.2};
  friend bool operator==(const MixupStep&, const MixupStep&) = default;
};
struct CutmixStep {
  Mixing::Kind kind{.alpha = 1};
  friend bool operator==(const CutmixStep&, const CutmixStep&) = default;
};

using Step = std::variant<ResizedCropStep, CentreCropStep, CropStep, FlipStep, AlternatingFlipStep,
                          TranslateStep, JitterStep, RandAugmentStep, TrivialAugmentStep,
                          AutoAugmentStep, EraseStep, CutoutStep, MixupStep, CutmixStep>;

// An augmentation recipe: a list of steps, applied in order.
struct Recipe {
  static constexpr std::size_t kMostSteps = 12;
  std::array<Step, kMostSteps> steps{};
  std::size_t size = 0;  // number of steps in use; the others are default-constructed

  static const Recipe kNone;
  static const Recipe kCifar;     // crop, flip
  static const Recipe kImageNet;  // resized_crop, flip

  friend bool operator==(const Recipe&, const Recipe&) = default;
};
inline constexpr Recipe Recipe::kNone{};
inline constexpr Recipe Recipe::kCifar{{CropStep{}, FlipStep{}}, 2};
inline constexpr Recipe Recipe::kImageNet{{ResizedCropStep{}, FlipStep{}}, 2};

// Whether the first step of a recipe takes an image of any size and cuts it to the net's size.
// Without such a step, the image is brought to that size before the first step.
bool brings_to_size(const Recipe& recipe) noexcept;

// Mixup and cutmix of a recipe, and whether it has any of them.
Mixing mixing_of(const Recipe& recipe) noexcept;
bool mixes(const Recipe& recipe) noexcept;

// Parses the name of a recipe ("none", "cifar", "imagenet") or a list of steps:
//
//   resized_crop:area=0.2..1,ratio=0.75..1.25+flip+rand_augment:magnitude=7+erase:p=0.1
//
// Missing parameters have torchvision's defaults. Throws UsageError, which says what is wrong and
// what is allowed.
Recipe parse_recipe(std::string_view text);

// The name of a recipe, or the shortest list of steps that parse_recipe() turns into it.
std::string recipe_name(const Recipe& recipe);

// Names, parameters and defaults of all steps, one per line, for help texts.
std::string recipe_help();

}  // namespace winnow::pipeline
