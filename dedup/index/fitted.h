#pragma once

#include "dedup/index/index.h"
#include "dedup/verify/calibrate.h"

namespace winnow::dedup {

// Verification model fitted to an index's pictures, stored in its folder (docs/formats/index.md).
struct FittedModel {
  Calibration calibration;  // for the rows that match by codes of the model's hash
  double landmarks = 0;     // average per picture (landmarks_a_picture)
};

}  // namespace winnow::dedup
