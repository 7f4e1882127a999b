#pragma once

#include "app/metrics/metrics_outlet.h"
#include "tools/command.h"
#include "tools/flags/flags.h"

namespace winnow::tools {

void add_metrics_flags(Verb group, MetricsOutletOptions& flags);

}  // namespace winnow::tools
