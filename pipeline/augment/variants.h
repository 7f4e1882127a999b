#pragma once

#include <cstdint>

#include "common/image.h"
#include "common/sample.h"
#include "pipeline/augment/augment.h"
#include "pipeline/augment/settings.h"

namespace winnow::pipeline {

// Augmentation at ingest. A cache stores pixels of one size, and for each training image several
// augmented variants, of which an epoch uses one.
struct VariantSettings {
  // Number of variants of each training image; other images have one. 0: images are stored
  // unchanged.
  int copies = 0;
  Recipe recipe = Recipe::kNone;  // augmentation recipe for training images
  int height_px = 0;              // size of all variants in pixels
  int width_px = 0;
  std::uint64_t seed = 0;

  friend bool operator==(const VariantSettings&, const VariantSettings&) = default;
};

// Converts the settings to and from the record in the manifest. Throws FormatError for a recipe
// that this version does not know.
StoredVariants stored_variants(const VariantSettings& settings);
VariantSettings variant_settings(const StoredVariants& stored);

// Number of variants stored of an image in this split. Here and below, settings.copies must not be
// 0. Pure.
int variant_count(const VariantSettings& settings, Split split) noexcept;

// Most bytes that all variants of one image take together.
std::uint64_t variant_bytes(const VariantSettings& settings) noexcept;

// Makes all variants of an image, stacked vertically in one image. Variant k of a training image is
// augment() with the recipe and AugmentKey{seed, k, id}. Other images have one variant, without
// recipe. Pure. Throws as augment().
Image make_variants(ImageView image, const VariantSettings& settings, Split split, SampleId id);

}  // namespace winnow::pipeline
