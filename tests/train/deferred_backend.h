#pragma once

#include <memory>

#include "train/backend/backend.h"

namespace winnow::train {

// The reference as if on the slowest card. Computes the same bits as the reference.
// Programs  do nothing until they are waited for; their outputs are NaN until then; nothing that
//           they use may be changed meanwhile
// Weights   are in separate memory, NaN until they are loaded
struct DeferredState {
  int unfinished = 0;    // programs with work that was not waited for to its end
  int failing_wait = 0;  // the number of the wait, from now on, that throws Error; 0: none
};
std::unique_ptr<Backend> make_deferred_backend(std::shared_ptr<DeferredState> state);

}  // namespace winnow::train
