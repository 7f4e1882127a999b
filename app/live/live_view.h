#pragma once

#include <string>
#include <vector>

#include "app/live/live_state.h"

namespace winnow::app {

// A run as lines of a terminal: how far it is, curves of loss and accuracy in braille, the shares
// of its time, its ranks, who waits for whom, what it said last. UTF-8, every character one column
// wide but those of names.
//
// In   width, height: of the terminal, at least 1
// Out  At most `height` lines of at most `width` characters, without line ends. What does not fit
//      is left out: first the curves, then the shares of time, then the ranks. Made for 80 x 24 and
//      more.
// Pure.
std::vector<std::string> live_view(const LiveState& state, int width, int height);

}  // namespace winnow::app
