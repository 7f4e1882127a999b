#pragma once

#include <string>
#include <vector>

#include "app/live/live_state.h"

namespace winnow::app {

// Several runs as lines of a terminal: a row a run, how far it is, its last numbers, time left, in
// a wide one its slowest rank and its curve of loss; below what their health says.
//
// Out  at most `height` lines of at most `width` characters, without line ends
// Pure.
std::vector<std::string> runs_view(const std::vector<LiveState>& runs, int width, int height);

// A run in one line, where there is no terminal: "run: step 120, epoch 1.20 of 10, 12.0 %, loss
// 0.4123, val 80.10 %, 900 images/s, 3 min 20 s left". Pure.
std::string run_line(const LiveState& run);

}  // namespace winnow::app
