#pragma once

#include "train/nets/builder.h"

namespace winnow::train {

// Vision transformers (Dosovitskiy et al. 2021) as torchvision's VisionTransformer builds them.
// The position embedding has a row for each patch, so weights fit images of one size only. Throws
// ShapeError for images that do not divide into patches.
Graph make_vit_b_16(const NetOptions& options);

// The width, depth and heads of DeiT-Ti (Touvron et al. 2021), with patches of 4 pixels: 64 of them
// in an image of 32.
Graph make_vit_tiny_patch4_32(const NetOptions& options);

}  // namespace winnow::train
