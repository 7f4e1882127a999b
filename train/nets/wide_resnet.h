#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Builders of Wide ResNets for small images, without dropout: WRN-16-4 and WRN-28-10, named by
// number of layers and width factor.
// Source  Zagoruyko and Komodakis, "Wide residual networks" (BMVC 2016).
Graph make_wrn16_4(const NetOptions& options);
Graph make_wrn28_10(const NetOptions& options);

}  // namespace winnow::train
