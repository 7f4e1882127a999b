#pragma once

#include <functional>

namespace winnow {

// Whether long work shall end at its next clean place. Libraries that can be stopped ask it often
// and throw StoppedError; main sets it, by a signal. Once true it stays so. Cheap, safe from any
// thread. May be empty: nobody will ask.
using StopRequested = std::function<bool()>;

}  // namespace winnow
