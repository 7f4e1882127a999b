#pragma once

#include <optional>
#include <string>

#include "train/graph/graph.h"
#include "train/plan/batch_layout.h"

namespace winnow::train {

// What the batch norms that `training` trains would normalise over. Those with frozen statistics,
// and nets without batch norm, are no part of it.
//
// goes_on  The run has begun, by an older version, and goes on as it is.
// Out      Then a sentence for people, where it would throw otherwise.
// Throws   UsageError: a batch norm has one value a channel, whose output is its shift for any
//          image. PyTorch refuses the same.
std::optional<std::string> check_norm_groups(const Graph& training, const std::string& net,
                                             bool goes_on);

// A sentence for people where batch norms are over fewer than kLeastOfNorm images. `views` of a
// sample are images of their own.
std::optional<std::string> note_on_norm_groups(const Graph& training, const BatchLayout& batches,
                                               int views, bool sync_bn);

}  // namespace winnow::train
