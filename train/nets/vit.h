#pragma once

#include "train/nets/builder.h"

namespace winnow::train {

// Builds the vision transformer ViT-B/16, as torchvision's VisionTransformer.
// Images  The position embedding has a row for each patch, so trained weights fit one image size
//         only. Throws ShapeError if images do not divide into patches.
// Source  Dosovitskiy et al. 2021.
Graph make_vit_b_16(const NetOptions& options);

// Builds a vision transformer with the width, depth and heads of DeiT-Ti (Touvron et al. 2021) and
// patches of 4 pixels: 64 patches in an image of 32 x 32.
Graph make_vit_tiny_patch4_32(const NetOptions& options);

}  // namespace winnow::train
