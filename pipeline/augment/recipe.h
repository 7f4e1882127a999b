#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "pipeline/augment/mix.h"
#include "pipeline/augment/sampling.h"

namespace winnow::pipeline {

// The steps of a recipe with their parameters. The quoted name is used in recipe texts.

// "resized_crop": a part of random area and shape, resized to the sample's size. Only first in a
// recipe.
struct ResizedCropStep {
  CropRange range;
  friend bool operator==(const ResizedCropStep&, const ResizedCropStep&) = default;
};
// "centre_crop": resizes the shorter side to this length, then cuts the centre. Only first in a
// recipe.
struct CentreCropStep {
  int resize_px = 256;
  friend bool operator==(const CentreCropStep&, const CentreCropStep&) = default;
};
enum class Padding { kZero, kReflect };
// "crop": pads, then cuts at a random position.
struct CropStep {
  int padding_px = 4;
  Padding mode = Padding::kZero;
  friend bool operator==(const CropStep&, const CropStep&) = default;
};
// "flip": mirrors horizontally with this probability.
struct FlipStep {
  double probability = 0.5;
  friend bool operator==(const FlipStep&, const FlipStep&) = default;
};
// "alternating_flip": random in the first epoch, then every other time.
struct AlternatingFlipStep {
  friend bool operator==(const AlternatingFlipStep&, const AlternatingFlipStep&) = default;
};
// "translate": shifts by up to these shares of width and height, filling with zeros.
struct TranslateStep {
  double x = 0.1;
  double y = 0.1;
  friend bool operator==(const TranslateStep&, const TranslateStep&) = default;
};
// "jitter"
struct JitterStep {
  Jitter jitter{0.4, 0.4, 0.4, 0.1};
  friend bool operator==(const JitterStep&, const JitterStep&) = default;
};
// "rand_augment", "trivial_augment", "auto_augment"
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
// ImageNet's mean, with which torchvision's recipes erase: 0 after normalisation.
using Colour = std::array<std::uint8_t, 3>;
inline constexpr Colour kMeanColour{124, 116, 104};
// The content of an erased area: one colour, or noise. Noise is normally distributed by pixel and
// channel with the data set's Levels.
struct Fill {
  Colour colour = kMeanColour;
  bool random = false;
  friend bool operator==(const Fill&, const Fill&) = default;
};
// "erase"
struct EraseStep {
  Erasing erasing;
  Fill value;
  friend bool operator==(const EraseStep&, const EraseStep&) = default;
};
// "cutout": erases a square around any pixel.
struct CutoutStep {
  int side_px = 16;
  Colour value = kMeanColour;
  friend bool operator==(const CutoutStep&, const CutoutStep&) = default;
};

// "mixup" and "cutmix": mix the samples of a batch. Only last in a recipe; with both, a batch gets
// one of them.
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

// A list of steps, applied in order.
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

// Whether the first step of a recipe takes the whole image and cuts it to the size that the net
// gets. Otherwise the image must have that size before the first step.
bool brings_to_size(const Recipe& recipe) noexcept;

// The mixing steps of a recipe.
Mixing mixing_of(const Recipe& recipe) noexcept;
bool mixes(const Recipe& recipe) noexcept;

// Parses a name ("none", "cifar", "imagenet") or a list of steps:
//
//   resized_crop:area=0.2..1,ratio=0.75..1.25+flip+rand_augment:magnitude=7+erase:p=0.1
//
// Missing parameters have torchvision's defaults. UsageError says what is wrong and what is
// allowed.
Recipe parse_recipe(std::string_view text);

// The name of a recipe, or the shortest list that parse_recipe() turns into it.
std::string recipe_name(const Recipe& recipe);

// Names, parameters and defaults of the steps, one a line, for help texts.
std::string recipe_help();

}  // namespace winnow::pipeline
