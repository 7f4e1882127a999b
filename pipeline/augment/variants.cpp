#include "pipeline/augment/variants.h"

#include <algorithm>
#include <span>

#include "common/error.h"

namespace winnow::pipeline {

StoredVariants stored_variants(const VariantSettings& settings) {
  return {.copies = settings.copies,
          .recipe = recipe_name(settings.recipe),
          .height_px = settings.height_px,
          .width_px = settings.width_px,
          .seed = settings.seed};
}

VariantSettings variant_settings(const StoredVariants& stored) {
  VariantSettings settings{.copies = stored.copies,
                           .recipe = Recipe::kNone,
                           .height_px = stored.height_px,
                           .width_px = stored.width_px,
                           .seed = stored.seed};
  try {
    settings.recipe = parse_recipe(stored.recipe);
  } catch (const UsageError& error) {
    throw FormatError("the images of the cache are stored in variants made by '" + stored.recipe +
                      "', which this winnow does not know: " + error.what());
  }
  return settings;
}

int variant_count(const VariantSettings& settings, Split split) noexcept {
  return split == Split::kTrain ? settings.copies : 1;
}

std::uint64_t variant_bytes(const VariantSettings& settings) noexcept {
  return static_cast<std::uint64_t>(settings.copies) *
         static_cast<std::uint64_t>(settings.height_px) *
         static_cast<std::uint64_t>(settings.width_px) * 3;
}

Image make_variants(ImageView image, const VariantSettings& settings, Split split, SampleId id) {
  const Geometry geometry{settings.height_px, settings.width_px, image.channels};
  const auto sized_pixels = [&] {
    Image sized(geometry.height_px, geometry.width_px, geometry.channels);
    augment(image, Recipe::kNone, geometry, {}, sized.pixels);
    return sized;
  };
  if (split != Split::kTrain) return sized_pixels();
  // Resize once if the recipe only uses the resized pixels.
  Image sized;
  if (!brings_to_size(settings.recipe)) {
    sized = sized_pixels();
    image = sized.view();
  }
  Image all(settings.copies * geometry.height_px, geometry.width_px, geometry.channels);
  const std::size_t bytes = all.pixels.size() / static_cast<std::size_t>(settings.copies);
  for (int k = 0; k < settings.copies; ++k) {
    augment(image, settings.recipe, geometry,
            {.seed = settings.seed, .epoch = static_cast<std::uint32_t>(k), .id = id},
            std::span(all.pixels).subspan(static_cast<std::size_t>(k) * bytes, bytes));
  }
  return all;
}

}  // namespace winnow::pipeline
