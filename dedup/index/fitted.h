#pragma once

#include "dedup/index/index.h"
#include "dedup/verify/calibrate.h"

namespace winnow::dedup {

// What an index's pictures say of when two are one, kept in its folder (docs/formats/index.md).
struct FittedModel {
  Calibration calibration;  // of the rows that match by codes of its hash
  double landmarks = 0;     // of a picture, on average (landmarks_a_picture)
};

}  // namespace winnow::dedup
