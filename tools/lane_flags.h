#pragma once

#include "tools/command.h"
#include "tools/flags/flags.h"

namespace winnow::tools {

// --lanes and --threads, as TrainJobs has them.
void add_lane_flags(Verb verb, int& lanes, int& threads);

}  // namespace winnow::tools
