#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "pipeline/augment/draws.h"
#include "pipeline/augment/ops/geometry.h"

namespace winnow::pipeline {

// Draws the random parameters of torchvision's transforms, as data. With the same random numbers
// they are equal to torchvision's to the last bit, so the distributions are the same. Pure except
// for `draws`.

struct Interval {
  double low = 0;
  double high = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

// Ranges of a random crop: area as a share of the picture's area, and aspect ratio width / height.
struct CropRange {
  Interval area{0.08, 1.0};
  Interval ratio{3.0 / 4.0, 4.0 / 3.0};
  friend bool operator==(const CropRange&, const CropRange&) = default;
};
// RandomResizedCrop: draws the box to cut and resize. Always inside the picture and not empty.
Box random_resized_crop(int height_px, int width_px, const CropRange& range, Draws& draws);

// RandomCrop: draws a box of the target size from a padded picture, which must be at least as
// large.
Box random_crop(int height_px, int width_px, int to_height_px, int to_width_px, Draws& draws);

bool happens(double probability, Draws& draws);
// Whether an epoch mirrors the image: random in the first epoch, then every other time. `draws`
// must be those of epoch 0.
bool alternating_flip(std::uint32_t epoch, Draws& draws);

// An operation on pixels. The comment is the unit of its value.
enum class Op {
  kIdentity,
  kShearX,
  kShearY,
  kTranslateX,  // pixels
  kTranslateY,
  kRotate,      // degrees counter-clockwise
  kBrightness,  // factor
  kSaturation,
  kContrast,
  kSharpness,
  kPosterize,  // bits
  kSolarize,   // threshold
  kAutoContrast,
  kEqualize,
  kInvert,
  kHue,  // share of the full circle
};
std::string_view op_name(Op op) noexcept;  // torchvision's name: "ShearX"
struct Change {
  Op op = Op::kIdentity;
  double value = 0;
  friend bool operator==(const Change&, const Change&) = default;
};
using Changes = std::vector<Change>;

// ColorJitter: factors in [max(0, 1 - x), 1 + x], hue shifts in [-x, x], in random order. A change
// of 0 is left out.
struct Jitter {
  double brightness = 0;
  double contrast = 0;
  double saturation = 0;
  double hue = 0;  // at most 0.5
  friend bool operator==(const Jitter&, const Jitter&) = default;
};
Changes colour_jitter(const Jitter& jitter, Draws& draws);

// Ranges of magnitudes: as in AutoAugment and RandAugment, or as in TrivialAugmentWide.
enum class Space { kUsual, kWide };
// Magnitudes of an operation, by bin. Those of translations depend on the size of the picture.
struct Magnitudes {
  std::vector<double> values;  // magnitude for each bin; empty: the operation has none
  bool has_sign = false;
};
Magnitudes magnitudes(Op op, Space space, int bins, int height_px, int width_px);

struct RandAugment {
  int count = 2;
  int magnitude = 9;  // bin of the magnitude, in [0, bins)
  int bins = 31;
  friend bool operator==(const RandAugment&, const RandAugment&) = default;
};
Changes rand_augment(const RandAugment& options, int height_px, int width_px, Draws& draws);
Changes trivial_augment_wide(int bins, int height_px, int width_px, Draws& draws);

enum class Policy { kImageNet, kCifar10, kSvhn };
Changes auto_augment(Policy policy, int height_px, int width_px, Draws& draws);

// RandomErasing: area as a share of the picture, aspect ratio height / width. nullopt: nothing is
// erased.
struct Erasing {
  double probability = 0.5;
  Interval area{0.02, 0.33};
  Interval ratio{0.3, 3.3};
  friend bool operator==(const Erasing&, const Erasing&) = default;
};
std::optional<Box> random_erasing(const Erasing& options, int height_px, int width_px,
                                  Draws& draws);

// Cutout (DeVries and Taylor): draws a square around a random pixel; it may extend beyond the
// border.
Box cutout(int side_px, int height_px, int width_px, Draws& draws);

// RandomAffine(0, translate): a shift by whole pixels, up to a share of the picture's width and
// height.
struct Shift {
  int right_px = 0;
  int down_px = 0;
};
Shift random_translation(double share_x, double share_y, int height_px, int width_px, Draws& draws);

}  // namespace winnow::pipeline
