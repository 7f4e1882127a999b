#pragma once

#include <cstdint>

#include "common/image.h"
#include "common/resample.h"

namespace winnow::dedup {

// Variance of the 4-neighbour Laplacian over the gray image, without borders (Pech-Pacheco 2000).
// Larger is sharper. Comparable between copies of one picture at one size.
float sharpness(ImageView gray);

// Amount of detail to match on, 0..100: the gradient sum of PDQ's quality metric on a 64x64
// reduction.
// Images of quality 0 would all match each other, so they are set apart. The flag --list-blank and
// the key "blank" of winnow.dedup/1 list them.
float quality(ImageView gray);

// Sharpness and quality of an image whose rows arrive a few at a time, from the top.
class RowFeatures {
 public:
  // `weights` as for RowResizer.
  RowFeatures(int height_px, int width_px, ResampleWeights* weights = nullptr);

  // The next rows of the gray image, preceded by the last `above` rows of the call before (up to
  // two, as many as there are).
  void add(ImageView gray, int above);
  // Call these once all rows are there.
  float sharpness() const;
  float quality();

 private:
  int height_px_;
  int width_px_;
  std::int64_t sum_ = 0;  // sums over the Laplacian
  std::int64_t squares_ = 0;
  RowResizer resizer_;
};

}  // namespace winnow::dedup
