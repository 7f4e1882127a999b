#pragma once

#include <memory>

#include "app/metrics/metrics_outlet.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "train/run/options.h"

namespace winnow::tools {

void add_metrics_flags(Verb group, MetricsOutletOptions& flags);

// Where the figures of `run` go besides its folder, from its next line on; null where they go
// nowhere, and on all ranks but 0. It outlives the training. Collective.
// Throws  UsageError, on all ranks: see MetricsOutlet
std::unique_ptr<MetricsOutlet> open_outlet(const MetricsOutletOptions& flags,
                                           train::RunOptions& run, const Session& session);

}  // namespace winnow::tools
