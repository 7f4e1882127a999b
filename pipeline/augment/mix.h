#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "common/image.h"
#include "pipeline/augment/draws.h"
#include "pipeline/augment/ops/pixels.h"

namespace winnow::pipeline {

// Mixup and cutmix as in torchvision's recipes: all samples of a batch are mixed alike, each with
// the one before it, the first with the last. Pure except for `draws`; thread-safe.

// Probability and strength of both. If both are given, a batch gets one of them, with equal
// chances.
struct Mixing {
  struct Kind {
    double probability = 1;
    double alpha = 0;  // the remaining share is drawn from Beta(alpha, alpha); 0: never
    friend bool operator==(const Kind&, const Kind&) = default;
  };
  Kind mixup{};
  Kind cutmix{};
  friend bool operator==(const Mixing&, const Mixing&) = default;
};

// How the samples of a batch are mixed.
struct Mix {
  double own = 1;  // weight of the sample and of its own label
  // Cutmix: the box taken from the other sample; without it, all pixels are mixed.
  std::optional<Box> box;
  friend bool operator==(const Mix&, const Mix&) = default;
};

// Draws a mix; nullopt: the batch stays as it is. A drawn share is a multiple of 2^-16, which hides
// differences in the last bits of logarithms between machines.
std::optional<Mix> random_mix(const Mixing& options, int height_px, int width_px, Draws& draws);

// CutMix with a drawn share: a box of 1 - own of the picture around a pixel. Its part inside the
// picture determines the final share.
Mix cutmix(double own, int height_px, int width_px, int centre_y, int centre_x);

// Mixes rows [from, to) of consecutive pictures with the size and channels of `first`, each with
// the unmixed picture before it. Values are rounded to the nearest, halves up. Other rows may be
// mixed at the same time.
// before  Precedes the first picture; null: the last one does.
void mix_rows(PixelSpan first, std::size_t pictures, const std::uint8_t* before, int from, int to,
              const Mix& how);

}  // namespace winnow::pipeline
