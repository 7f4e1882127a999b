#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "pipeline/augment/mix.h"
#include "pipeline/augment/sampling.h"

namespace winnow::pipeline {

// The steps of a recipe with their parameters; in a text each has the name given here.

// "resized_crop": a part of random area and shape, resized to the sample's size. First of a recipe.
struct ResizedCropStep {
  CropRange range;
  friend bool operator==(const ResizedCropStep&, const ResizedCropStep&) = default;
};
// "centre_crop": resized so that the shorter side has so many pixels, and cut at the centre. First.
struct CentreCropStep {
  int resize_px = 256;
  friend bool operator==(const CentreCropStep&, const CentreCropStep&) = default;
};
enum class Padding { kZero, kReflect };
// "crop": padded and cut at random.
struct CropStep {
  int padding_px = 4;
  Padding mode = Padding::kZero;
  friend bool operator==(const CropStep&, const CropStep&) = default;
};
// "flip": horizontally, with that probability.
struct FlipStep {
  double probability = 0.5;
  friend bool operator==(const FlipStep&, const FlipStep&) = default;
};
// "alternating_flip": at random in the first epoch, from then on every other time.
struct AlternatingFlipStep {
  friend bool operator==(const AlternatingFlipStep&, const AlternatingFlipStep&) = default;
};
// "translate": by up to these shares of width and height, zeros moving in.
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
// The mean of ImageNet, which is what torchvision's recipes erase with: 0 after normalisation.
using Colour = std::array<std::uint8_t, 3>;
inline constexpr Colour kMeanColour{124, 116, 104};
// What is erased becomes one colour, or noise: of each pixel and channel a number that is normally
// distributed as those of the data set are, see Levels.
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
// "cutout": a square about any pixel.
struct CutoutStep {
  int side_px = 16;
  Colour value = kMeanColour;
  friend bool operator==(const CutoutStep&, const CutoutStep&) = default;
};

// "mixup" and "cutmix", of the samples of a batch; last of a recipe. With both a batch has one.
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

// A list of steps, done in order.
struct Recipe {
  static constexpr std::size_t kMostSteps = 12;
  std::array<Step, kMostSteps> steps{};
  std::size_t size = 0;  // of the steps those that are done; the others are as made

  static const Recipe kNone;
  static const Recipe kCifar;     // crop, flip
  static const Recipe kImageNet;  // resized_crop, flip

  friend bool operator==(const Recipe&, const Recipe&) = default;
};
inline constexpr Recipe Recipe::kNone{};
inline constexpr Recipe Recipe::kCifar{{CropStep{}, FlipStep{}}, 2};
inline constexpr Recipe Recipe::kImageNet{{ResizedCropStep{}, FlipStep{}}, 2};

// Whether its first step takes the whole image rather than one of the sample's size.
bool brings_to_size(const Recipe& recipe) noexcept;

// How it mixes the samples of a batch with each other.
Mixing mixing_of(const Recipe& recipe) noexcept;
bool mixes(const Recipe& recipe) noexcept;

// A name ("none", "cifar", "imagenet") or a list such as
//
//   resized_crop:area=0.2..1,ratio=0.75..1.25+flip+rand_augment:magnitude=7+erase:p=0.1
//
// What is not said has torchvision's defaults. UsageError says what is wrong and what there is.
Recipe parse_recipe(std::string_view text);

// Its name, or the shortest such list: parse_recipe() of it gives the recipe.
std::string recipe_name(const Recipe& recipe);

// The names of the steps with their parameters and defaults, a line each, for help.
std::string recipe_help();

}  // namespace winnow::pipeline
