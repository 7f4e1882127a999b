#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "common/image.h"
#include "common/sample.h"
#include "pipeline/augment/recipe.h"

namespace winnow::pipeline {

struct Geometry {
  int height_px = 0;
  int width_px = 0;
  int channels = 0;
};

// Identifies the random numbers for augmenting one sample. They depend on nothing else.
struct AugmentKey {
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  SampleId id = 0;
};

// Mean and standard deviation of each channel, by which a net normalises 0..255. Default:
// ImageNet's.
struct Levels {
  std::array<double, 3> mean{123.675, 116.28, 103.53};
  std::array<double, 3> deviation{58.395, 57.12, 57.375};
};

// Augments one image; writes height*width*channels bytes to `out`.
//
// Size
// - A crop at the beginning of the recipe brings the image to its final size. resized_crop cuts the
//   part that crop_of() gives and resizes it (bilinear with antialias, as Pillow). centre_crop
//   resizes the shorter side to its length and cuts the centre, padded with zeros if that is
//   smaller.
// - Without such a crop, an image of the final size is kept. Any other is resized to the smallest
//   size of its aspect ratio that covers the final size (the longer side truncated as in
//   torchvision's Resize) and cut at the centre as by CenterCrop. An image of the final aspect
//   ratio is only resized.
// - If the aspect ratio is more than 16 times the final one, only the middle 16 times are resized,
//   so that memory stays bounded.
// Channels  Gray is repeated for three channels. Colour becomes luma for one, before the resize.
// Steps     The other steps of the recipe follow in order. Random numbers (sampling.h) come from
//           one stream for each kind of step; several steps of one kind draw from it in turn. Steps
//           that mix samples are not done here, see mix_of().
// levels    For erasing with noise, which is clamped to 0..255 (with ImageNet's levels, 3 to 4 % of
//           the values are clamped).
// Memory    Allocates nothing if the size is kept, colour is not reduced, and only crops and flips
//           follow.
// Threads   Pure; thread-safe.
// Errors    UsageError unless the geometry is at least 1x1 with 1 or 3 channels. Error if the image
//           is not, or if `out` has another size.
void augment(ImageView image, const Recipe& recipe, const Geometry& geometry, const AugmentKey& key,
             std::span<std::uint8_t> out, const Levels& levels = {});

// Applies one step of a recipe, other than a crop to size or mixing, to pixels of the final size.
// Random numbers come from `draws`; for alternating_flip, these must be the draws of epoch 0.
void do_step(const Step& step, PixelSpan pixels, std::uint32_t epoch, Draws& draws,
             const Levels& levels = {});

// The part of an image of this size that a recipe with a leading resized_crop uses, so that only
// this part needs to be decoded. nullopt for other recipes. Pure.
std::optional<Box> crop_of(const Recipe& recipe, int height_px, int width_px,
                           const AugmentKey& key);

// Augments the part of an image that crop_of() gave, perhaps decoded at a smaller scale. If the
// part was cut from the full-scale image, the result is that of augment().
void augment_crop(ImageView part, const Recipe& recipe, const Geometry& geometry,
                  const AugmentKey& key, std::span<std::uint8_t> out, const Levels& levels = {});

// How the samples of a batch are mixed after augment(); nullopt: they are not. Drawn by the number
// of the batch, so that the result does not depend on how the batch is distributed over ranks.
// Pure.
std::optional<Mix> mix_of(const Recipe& recipe, const Geometry& geometry, std::uint64_t seed,
                          std::uint64_t batch);

}  // namespace winnow::pipeline
