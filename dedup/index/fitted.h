#pragma once

#include "dedup/index/index.h"
#include "dedup/verify/calibrate.h"

namespace winnow::dedup {

// The verification model of an index, which gives the probability that two aligned pictures are
// one. Fitted to the index's own pictures and stored in its folder (docs/formats/index.md).
struct FittedModel {
  Calibration calibration;  // fitted to the rows of enough quality for the index's hash
  double landmarks = 0;     // average per picture (landmarks_a_picture)
};

}  // namespace winnow::dedup
