#pragma once

#include <memory>

#include "train/backend/backend.h"

namespace winnow::train {

// interpret() behind the Backend interface. Computes in float64 whatever CompileOptions say,
// but does not take a dtype that CPUs do not have.
std::unique_ptr<Backend> make_reference_backend();

}  // namespace winnow::train
