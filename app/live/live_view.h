#pragma once

#include <string>
#include <vector>

#include "app/live/live_state.h"

namespace winnow::app {

// A run as lines of a terminal: progress, curves of loss and accuracy in braille, shares of time,
// ranks, who waits for whom, last messages. UTF-8; every character except those of names is one
// column wide. Pure.
//
// In     width, height: of the terminal, at least 1
// Out    at most `height` lines of at most `width` characters, without line ends
// Small  left out if there is no room: first the curves, then the shares of time, then the ranks.
//        Made for 80 x 24 and more.
std::vector<std::string> live_view(const LiveState& state, int width, int height);

}  // namespace winnow::app
