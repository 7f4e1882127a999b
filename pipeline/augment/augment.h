#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "common/image.h"
#include "common/sample.h"

namespace winnow::pipeline {

enum class Recipe { kNone, kCifar };  // kCifar: pad 4 zeros, random crop, horizontal flip

Recipe parse_recipe(std::string_view name);  // "none", "cifar"; UsageError

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

// Writes height*width*channels bytes to `out`. The image is first brought to size: kept where it
// has it, otherwise resized so that it covers the target (bilinear with antialias, as Pillow) and
// cut at the centre; gray is repeated for three channels, colour becomes luma for one. With kCifar
// the result is then padded, cropped at random and flipped with probability one half, as
// torchvision's RandomCrop(padding=4) and RandomHorizontalFlip do.
void augment(ImageView image, Recipe recipe, const Geometry& geometry, const AugmentKey& key,
             std::span<std::uint8_t> out);

}  // namespace winnow::pipeline
