#pragma once

#include <string>
#include <vector>

#include "app/live/live_state.h"

namespace winnow::app {

// Shows several training runs as lines of a terminal, one row per run: progress, last metrics, time
// left; if there is room, also the slowest rank and the loss curve. Below are messages of their
// health logs. Pure.
//
// Out  at most `height` lines of at most `width` characters, without line ends
std::vector<std::string> runs_view(const std::vector<LiveState>& runs, int width, int height);

// A training run on one line, for output that is not a terminal: "run: step 120, epoch 1.20 of 10,
// 12.0 %, loss 0.4123, val 80.10 %, 900 images/s, 3 min 20 s left". Pure.
std::string run_line(const LiveState& run);

}  // namespace winnow::app
