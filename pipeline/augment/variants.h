#pragma once

#include <cstdint>

#include "common/image.h"
#include "common/sample.h"
#include "pipeline/augment/augment.h"
#include "pipeline/augment/settings.h"

namespace winnow::pipeline {

// Augmentation that is done once, before training: what a cache stores of an image is then pixels
// of one size, and of a training image as many variants of them as an epoch chooses from.
struct VariantSettings {
  int copies = 0;  // variants of a training image, others have one; 0: images stay as they are
  Recipe recipe = Recipe::kNone;  // of training images
  int height_px = 0;              // of all
  int width_px = 0;
  std::uint64_t seed = 0;

  friend bool operator==(const VariantSettings&, const VariantSettings&) = default;
};

// As a manifest records them, and back. FormatError for a recipe that this winnow does not know.
StoredVariants stored_variants(const VariantSettings& settings);
VariantSettings variant_settings(const StoredVariants& stored);

// How many variants an image of that split has. Settings with copies, here and below. Pure.
int variant_count(const VariantSettings& settings, Split split) noexcept;

// Bytes of all variants of an image, the most that one takes.
std::uint64_t variant_bytes(const VariantSettings& settings) noexcept;

// All variants of an image, one below the other in one image with its channels. Variant k of a
// training image is what augment() makes of it with the recipe and AugmentKey{seed, k, id}; the one
// of others is without a recipe. Pure. Throws as augment() does.
Image make_variants(ImageView image, const VariantSettings& settings, Split split, SampleId id);

}  // namespace winnow::pipeline
