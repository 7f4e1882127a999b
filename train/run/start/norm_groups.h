#pragma once

#include <optional>
#include <string>

#include "train/graph/graph.h"
#include "train/plan/batch_layout.h"

namespace winnow::train {

// Checks over how many values the trained batch norms of `training` normalise. Ignores batch norms
// with frozen statistics.
//
// goes_on  The run was started by an older version and is resumed unchanged.
// Out      With goes_on: a user-facing sentence instead of an error.
// Throws   UsageError: a batch norm has one value for each channel, so its output is its shift for
//          any image. PyTorch rejects the same.
std::optional<std::string> check_norm_groups(const Graph& training, const std::string& net,
                                             bool goes_on);

// A user-facing sentence if batch norms cover fewer than kLeastOfNorm images. `views` of a sample
// count as images of their own.
std::optional<std::string> note_on_norm_groups(const Graph& training, const BatchLayout& batches,
                                               int views, bool sync_bn);

}  // namespace winnow::train
