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

// What identifies the randomness of one sample's augmentation; nothing else enters it.
struct AugmentKey {
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  SampleId id = 0;
};

// Of a data set, by channel, in levels: what a net normalises with. ImageNet's, if nothing is said.
struct Levels {
  std::array<double, 3> mean{123.675, 116.28, 103.53};
  std::array<double, 3> deviation{58.395, 57.12, 57.375};
};

// Writes height*width*channels bytes to `out`.
//
// The image is first brought to size. Where the recipe begins with a crop of its own, that does it:
// resized_crop cuts the part that crop_of() names and resizes it (bilinear with antialias, as
// Pillow); centre_crop resizes so that the shorter side is what it says and cuts the centre, with
// zeros around where that is smaller. Otherwise the image is kept where it has the size, or else
// resized to the smallest size of its shape that covers the target, the longer side truncated as
// torchvision's Resize does, and cut at the centre as its CenterCrop does; an image of the target's
// shape is only resized. Gray is repeated for three channels; colour becomes luma for one, before
// the resize. Of a strip whose shape is more than 16 times the target's only the middle 16 are
// resized, so memory stays bounded whatever the image.
//
// The other steps of the recipe then follow in order, with what they draw (sampling.h) from streams
// of random numbers of their kinds: several steps of one kind draw one after the other. `levels` is
// for erasing with noise, which is clamped to 0..255: of ImageNet's, 3 to 4 % of the numbers.
//
// Steps that mix samples with each other are not done here, see mix_of().
//
// Pure; safe from many threads; allocates nothing where the size is kept, colour is not reduced and
// no step but crops and flips follows. Throws UsageError for a geometry that is not at least 1x1
// with 1 or 3 channels, Error for such an image or an `out` of another size.
void augment(ImageView image, const Recipe& recipe, const Geometry& geometry, const AugmentKey& key,
             std::span<std::uint8_t> out, const Levels& levels = {});

// One of the other steps, on pixels of the sample's size, with what it draws from `draws`; of an
// alternating_flip these are the draws of epoch 0.
void do_step(const Step& step, PixelSpan pixels, std::uint32_t epoch, Draws& draws,
             const Levels& levels = {});

// The part of an image of that size that a recipe which begins with resized_crop uses: nothing else
// need be decoded. Nothing for other recipes. Pure.
std::optional<Box> crop_of(const Recipe& recipe, int height_px, int width_px,
                           const AugmentKey& key);

// The rest of augment() for such a recipe, given that part, maybe at another scale: what both give
// is the same where the part is cut out of all the image's pixels.
void augment_crop(ImageView part, const Recipe& recipe, const Geometry& geometry,
                  const AugmentKey& key, std::span<std::uint8_t> out, const Levels& levels = {});

// How the samples of a batch are mixed after augment(), where that is what the recipe says and the
// batch happens to be: drawn for the batch of that number, so that it depends on nobody's part of
// it. Pure.
std::optional<Mix> mix_of(const Recipe& recipe, const Geometry& geometry, std::uint64_t seed,
                          std::uint64_t batch);

}  // namespace winnow::pipeline
