#pragma once

#include "common/image.h"

namespace winnow::dedup {

// Variance of the 4-neighbour Laplacian over the gray image, borders left out (Pech-Pacheco 2000):
// larger is sharper. Comparable between copies of one picture at one size.
float sharpness(ImageView gray);

// 0..100: how much there is to match on, the gradient sum of PDQ's quality metric taken on a 64x64
// reduction. 0: flat, every such image would match every other; they are set apart.
float quality(ImageView gray);

}  // namespace winnow::dedup
