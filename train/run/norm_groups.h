#pragma once

#include <optional>
#include <string>

#include "train/graph/graph.h"
#include "train/plan/batch_layout.h"

namespace winnow::train {

// What the batch norms that `training` trains would normalise over. Those with frozen statistics,
// and nets without batch norm, are no part of it.
//
// Throws   UsageError: a batch norm has one value a channel, whose output is its shift for any
//          image. PyTorch refuses the same.
void check_norm_groups(const Graph& training, const std::string& net);

// A sentence for people where batch norms are over fewer than kLeastOfNorm images. `views` of a
// sample are images of their own.
std::optional<std::string> note_on_norm_groups(const Graph& training, const BatchLayout& batches,
                                               int views, bool sync_bn);

}  // namespace winnow::train
