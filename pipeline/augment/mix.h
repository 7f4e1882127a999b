#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "common/image.h"
#include "pipeline/augment/draws.h"
#include "pipeline/augment/ops/pixels.h"

namespace winnow::pipeline {

// Mixup and cutmix as in torchvision's recipes: all samples of a batch are mixed in the same way,
// each with the one before it, the first with the last. Pure except for `draws`; thread-safe.

// Probability and strength of mixup and of cutmix. If both are given, each batch gets one of them,
// with equal chances.
struct Mixing {
  struct Kind {
    double probability = 1;
    double alpha = 0;  // the sample's own share is drawn from Beta(alpha, alpha); 0: never
    friend bool operator==(const Kind&, const Kind&) = default;
  };
  Kind mixup{};
  Kind cutmix{};
  friend bool operator==(const Mixing&, const Mixing&) = default;
};

// How all samples of a batch are mixed.
struct Mix {
  double own = 1;  // share of the sample itself, in pixels and in the loss
  // Cutmix: the box of pixels taken from the other sample. Without a box, all pixels are mixed
  // (mixup).
  std::optional<Box> box;
  friend bool operator==(const Mix&, const Mix&) = default;
};

// Draws how a batch is mixed; nullopt: the batch stays as it is. Drawn shares are multiples of
// 2^-16, which hides differences between machines in the last bits of logarithms.
std::optional<Mix> random_mix(const Mixing& options, int height_px, int width_px, Draws& draws);

// Cutmix with a given share: a box of 1 - own of the picture around a centre pixel. Only the part
// of the box inside the picture counts, which sets the final share.
Mix cutmix(double own, int height_px, int width_px, int centre_y, int centre_x);

// Mixes rows [from, to) of consecutive pictures, each with the unmixed picture before it. All have
// the size and channels of `first`. Values are rounded to nearest, halves up. Other rows may be
// mixed at the same time by other threads.
// before  the picture before the first one; null: the last picture
void mix_rows(PixelSpan first, std::size_t pictures, const std::uint8_t* before, int from, int to,
              const Mix& how);

}  // namespace winnow::pipeline
