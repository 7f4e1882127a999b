#pragma once

#include <string>
#include <vector>

#include "train/run/log/metrics.h"

namespace winnow::train {

// A table of a run, CSV: a row for each epoch, at the first line where it has ended, and for each
// evaluation, in the order of the steps. Its
// columns are step, epoch, wall, then every name that `rows` have. A row has what was logged since
// the row before: of train.loss and train.top1 the mean over the steps, of the others the last.
// Empty where there was nothing.
std::string summary_csv(const std::vector<MetricsRow>& rows);

}  // namespace winnow::train
