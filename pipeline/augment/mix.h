#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "common/image.h"
#include "pipeline/augment/draws.h"
#include "pipeline/augment/ops/pixels.h"

namespace winnow::pipeline {

// Mixup and cutmix, as torchvision's recipes have them: all samples of a batch are mixed alike,
// each with the one before it, the first with the last. Pure but for `draws`; safe from many
// threads.

// Of which of the two how often. Where both are given, a batch has one of them, either as likely.
struct Mixing {
  struct Kind {
    double probability = 1;
    double alpha = 0;  // the share that stays is of Beta(alpha, alpha); 0: never
    friend bool operator==(const Kind&, const Kind&) = default;
  };
  Kind mixup{};
  Kind cutmix{};
  friend bool operator==(const Mixing&, const Mixing&) = default;
};

// How the samples of a batch are mixed.
struct Mix {
  double own = 1;          // share of the sample itself and of its label
  std::optional<Box> box;  // cutmix: what is the other's; without, all pixels are mixed
  friend bool operator==(const Mix&, const Mix&) = default;
};

// Nothing: the batch stays as it is. A share that is drawn is a multiple of 2^-16, which hides how
// the last bits of logarithms differ between machines.
std::optional<Mix> random_mix(const Mixing& options, int height_px, int width_px, Draws& draws);

// CutMix of a share that was drawn: a box about a pixel of 1 - own of the picture, whose part
// inside the picture decides the share that stays.
Mix cutmix(double own, int height_px, int width_px, int centre_y, int centre_x);

// Rows [from, to) of pictures of the size and channels of `first` that lie one behind the other
// from there on: they are mixed, in each, with those of the picture before it as that was. The one
// before the first is `before`; null: the last. Mixed levels are rounded to the nearest, halves up.
// Other rows may be mixed at the same time.
void mix_rows(PixelSpan first, std::size_t pictures, const std::uint8_t* before, int from, int to,
              const Mix& how);

}  // namespace winnow::pipeline
