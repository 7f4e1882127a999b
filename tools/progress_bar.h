#pragma once

#include <string>

#include "common/progress.h"

namespace winnow::tools {

// A sink that shows rate and time left on stderr: redrawn in place on a terminal, a plain line
// every 15 seconds elsewhere. `unit`: what is counted, such as "images".
// Phases  when less is done than before, a new phase begins, with its own rate
// Copies  share one state; the last one to be destroyed ends the line
ProgressSink make_progress_bar(const std::string& title, const std::string& unit);

}  // namespace winnow::tools
