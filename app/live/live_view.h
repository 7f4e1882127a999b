#pragma once

#include <string>
#include <vector>

#include "app/live/live_state.h"

namespace winnow::app {

// Shows a training run as lines of a terminal: progress, curves of loss and accuracy in braille,
// how time is spent, ranks, which rank waits for which, last messages. UTF-8; every character is
// one column wide, except in names. Pure.
//
// In     width and height of the terminal, at least 1
// Out    at most `height` lines of at most `width` characters, without line ends
// Small  without room the curves are left out first, then how time is spent, then the ranks. Made
//        for 80 x 24 and more.
std::vector<std::string> live_view(const LiveState& state, int width, int height);

}  // namespace winnow::app
