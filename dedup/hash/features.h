#pragma once

#include <cstdint>

#include "common/image.h"
#include "common/resample.h"

namespace winnow::dedup {

// Variance of the 4-neighbour Laplacian over the gray image, borders left out (Pech-Pacheco 2000):
// larger is sharper. Comparable between copies of one picture at one size.
float sharpness(ImageView gray);

// 0..100: how much there is to match on, the gradient sum of PDQ's quality metric taken on a 64x64
// reduction. Low is 0: every such image would match every other, so they are set apart. The flag
// --list-blank and the key "blank" of winnow.dedup/1 mean these.
float quality(ImageView gray);

// Both, of an image whose rows come a few at a time, from the top.
class RowFeatures {
 public:
  // `weights` as of RowResizer.
  RowFeatures(int height_px, int width_px, ResampleWeights* weights = nullptr);

  // The next rows of the gray image, with up to two of those before on top of them, which are
  // `above`: as many as there are.
  void add(ImageView gray, int above);
  // Once all rows are there.
  float sharpness() const;
  float quality();

 private:
  int height_px_;
  int width_px_;
  std::int64_t sum_ = 0;  // of the Laplacian
  std::int64_t squares_ = 0;
  RowResizer resizer_;
};

}  // namespace winnow::dedup
