#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "common/image.h"
#include "common/sample.h"

namespace winnow::pipeline {

enum class Recipe { kNone, kCifar };  // kCifar: pad 4 zeros, random crop, horizontal flip

Recipe parse_recipe(std::string_view name);  // "none", "cifar"; UsageError
std::string_view recipe_name(Recipe recipe) noexcept;

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

// Writes height*width*channels bytes to `out`.
//
// The image is first brought to size. It is kept where it has it. Otherwise it is resized (bilinear
// with antialias, as Pillow) to the smallest size of its shape that covers the target, the longer
// side truncated as torchvision's Resize does, and cut at the centre as its CenterCrop does; an
// image of the target's shape is only resized. Gray is repeated for three channels; colour becomes
// luma for one, before the resize. Of a strip whose shape is more than 16 times the target's only
// the middle 16 are resized, so memory stays bounded whatever the image.
//
// With kCifar the result is then padded, cropped at random (row drawn before column) and flipped
// with probability one half, as torchvision's RandomCrop(padding=4) and RandomHorizontalFlip do.
//
// Pure; safe from many threads; allocates nothing where the size is kept and colour is not reduced.
// Throws UsageError for a geometry that is not at least 1x1 with 1 or 3 channels, Error for such an
// image or an `out` of another size.
void augment(ImageView image, Recipe recipe, const Geometry& geometry, const AugmentKey& key,
             std::span<std::uint8_t> out);

}  // namespace winnow::pipeline
