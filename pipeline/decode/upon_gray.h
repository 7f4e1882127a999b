#pragma once

#include "common/image.h"

namespace winnow::pipeline {

// Rows of a picture as they look upon a gray ground: upon which black and white drawings show, and
// upon which cut-outs of one picture differ. What lies hidden below transparent pixels is not seen.
//
// rows   1 or 3 channels, changed in place
// alpha  of the same height and width, one channel; colours are not multiplied with it
void lay_upon_gray(Image& rows, ImageView alpha);

}  // namespace winnow::pipeline
