#pragma once

#include <cstdint>

#include "common/image.h"
#include "common/sample.h"
#include "pipeline/augment/augment.h"
#include "pipeline/augment/settings.h"

namespace winnow::pipeline {

// Augmentation before training. A cache stores images as pixels of one size, and each training
// image as several variants, one of which each epoch uses.
struct VariantSettings {
  // Variants of a training image; others have one; 0: images are stored as they are.
  int copies = 0;
  Recipe recipe = Recipe::kNone;  // for training images
  int height_px = 0;              // size of all variants
  int width_px = 0;
  std::uint64_t seed = 0;

  friend bool operator==(const VariantSettings&, const VariantSettings&) = default;
};

// Converts to and from the manifest's record. FormatError for a recipe that this version does not
// know.
StoredVariants stored_variants(const VariantSettings& settings);
VariantSettings variant_settings(const StoredVariants& stored);

// Number of variants of an image in this split. Here and below, settings.copies must not be 0.
// Pure.
int variant_count(const VariantSettings& settings, Split split) noexcept;

// Maximum size in bytes of all variants of an image.
std::uint64_t variant_bytes(const VariantSettings& settings) noexcept;

// All variants of an image, stacked vertically in one image with its channels.
// Variant k of a training image is augment() with the recipe and AugmentKey{seed, k, id}. Other
// images have one variant, without recipe.
// Pure. Throws as augment().
Image make_variants(ImageView image, const VariantSettings& settings, Split split, SampleId id);

}  // namespace winnow::pipeline
