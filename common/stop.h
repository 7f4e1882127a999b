#pragma once

#include <functional>

namespace winnow {

// Whether long work shall end at its next clean point. Asked often by libraries that can be
// stopped, which then throw StoppedError; set by main on a signal. Once true it stays true. Cheap,
// thread-safe. May be empty: never.
using StopRequested = std::function<bool()>;

}  // namespace winnow
