#pragma once

#include <string>
#include <vector>

#include "train/run/log/metrics.h"

namespace winnow::train {

// Returns a run's metrics as a CSV table. Empty if nothing was logged.
//
// Rows     In step order: one for each epoch, at the first line after its end, and one for each
//          evaluation.
// Columns  step, epoch, wall, then every name that occurs in `rows`.
// Values   train.loss and train.top1: the mean over the steps since the previous row. Others: the
//          last value since the previous row.
std::string summary_csv(const std::vector<MetricsRow>& rows);

}  // namespace winnow::train
