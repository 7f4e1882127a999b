#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Square colour images.
inline NetOptions square_images(int side_px, int classes = 10) {
  NetOptions made;
  made.height_px = made.width_px = side_px;
  made.classes = classes;
  made.mean = {0.5F, 0.5F, 0.5F};
  made.stddev = {0.25F, 0.25F, 0.25F};
  return made;
}

}  // namespace winnow::train
