#pragma once

#include <cstdint>

#include "common/image.h"
#include "common/resample.h"

namespace winnow::dedup {

// Sharpness of a gray image: variance of its 4-neighbour Laplacian, border pixels excluded
// (Pech-Pacheco 2000). Larger is sharper. Only comparable between copies of one picture at one
// size.
float sharpness(ImageView gray);

// Amount of detail that an image can be matched by, 0..100: the gradient sum of PDQ's quality
// metric on a 64x64 reduction.
// An image of quality 0 (blank) would match every other such image, so it is not matched by hashes.
// The flag --list-blank and the key "blank" of the JSON schema winnow.dedup/1 list these images.
float quality(ImageView gray);

// Computes sharpness and quality of an image whose rows arrive a few at a time, from the top.
class RowFeatures {
 public:
  // `weights` as for RowResizer.
  RowFeatures(int height_px, int width_px, ResampleWeights* weights = nullptr);

  // Adds the next rows of the gray image. `gray` begins with the last `above` rows of the previous
  // call: two, or as many as there have been.
  void add(ImageView gray, int above);
  // Sharpness and quality of the image. Call these after the last row was added.
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
