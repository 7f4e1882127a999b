#pragma once

#include <string>
#include <vector>

#include "train/run/log/metrics.h"

namespace winnow::train {

// A run as a CSV table. Empty if nothing was logged.
//
// Rows     One for each epoch, at the first line after its end, and one for each evaluation; in
//          step order.
// Columns  step, epoch, wall, then every name that `rows` have.
// Values   Of what was logged since the previous row: the mean over the steps for train.loss and
//          train.top1, the last value for others.
std::string summary_csv(const std::vector<MetricsRow>& rows);

}  // namespace winnow::train
