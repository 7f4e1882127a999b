#pragma once

#include <memory>

#include "train/backend/backend.h"

namespace winnow::train {

// The reference as if on the slowest of cards: a program does nothing until it is waited for, what
// it will write is NaN until then, and it refuses to have anything changed beneath it. Weights lie
// in memory of their own, NaN until they are loaded. Computes what the reference does, to the bit.
struct DeferredState {
  int unfinished = 0;    // programs that were given something and not waited for to its end
  int failing_wait = 0;  // the how manieth wait from now on throws Error; 0: none
};
std::unique_ptr<Backend> make_deferred_backend(std::shared_ptr<DeferredState> state);

}  // namespace winnow::train
