#pragma once

#include <memory>

#include "train/backend/backend.h"

namespace winnow::train {

// The reference as if on a very slow card. Computes what the reference does, to the bit.
// Outputs    A program does nothing until it is waited for. Its outputs are NaN until then.
// Inputs     It refuses changes of its data meanwhile.
// Weights    Lie in memory of their own, NaN until they are loaded.
struct DeferredState {
  int unfinished = 0;    // programs that were started and not yet waited for to their end
  int failing_wait = 0;  // how many waits from now one throws Error; 0: none
};
std::unique_ptr<Backend> make_deferred_backend(std::shared_ptr<DeferredState> state);

}  // namespace winnow::train
