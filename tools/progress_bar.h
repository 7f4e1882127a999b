#pragma once

#include <string>

#include "common/progress.h"

namespace winnow::tools {

// A sink that shows rate and time left on stderr: a line redrawn in place on a terminal, a plain
// line every 15 seconds elsewhere. `unit` is what is counted, e.g. "images". Where less is done
// than before, a new phase begins, with a rate of its own. Copies share one state; the last one to
// go ends the line.
ProgressSink make_progress_bar(const std::string& title, const std::string& unit);

}  // namespace winnow::tools
