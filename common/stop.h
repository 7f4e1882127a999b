#pragma once

#include <functional>

namespace winnow {

// Returns whether long work shall end at its next clean point. Libraries that can be stopped call
// it often, and then throw StoppedError; main sets it on a signal. Once true it stays true. Cheap,
// thread-safe. May be empty: never stop.
using StopRequested = std::function<bool()>;

}  // namespace winnow
