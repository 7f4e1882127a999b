#pragma once

#include <optional>
#include <string>

#include "train/graph/graph.h"
#include "train/plan/batch_layout.h"

namespace winnow::train {

// Checks that each trained batch norm of `training` takes its statistics over more than one value
// per channel. Batch norms with frozen statistics are ignored.
//
// goes_on  The run was started by an older version and is resumed unchanged.
// Out      With goes_on: a user-facing sentence instead of an error.
// Throws   UsageError: a batch norm has one value for each channel, so its output does not depend
//          on the image. PyTorch rejects the same.
std::optional<std::string> check_norm_groups(const Graph& training, const std::string& net,
                                             bool goes_on);

// Returns a user-facing sentence if batch norms take their statistics over fewer than kLeastOfNorm
// images. `views`: views of each sample, each of which counts as an image.
std::optional<std::string> note_on_norm_groups(const Graph& training, const BatchLayout& batches,
                                               int views, bool sync_bn);

}  // namespace winnow::train
