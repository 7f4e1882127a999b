#pragma once

#include <string>

#include "common/progress.h"

namespace winnow::tools {

// Makes a progress bar that shows rate and time left on stderr: redrawn in place on a terminal,
// elsewhere a plain line every 15 seconds. `unit`: what is counted, such as "images".
// Phases  when less is done than before, a new phase begins, with its own rate
// Copies  of the sink share one state; the last one to be destroyed ends the line
ProgressSink make_progress_bar(const std::string& title, const std::string& unit);

}  // namespace winnow::tools
