#pragma once

#include <memory>

#include "train/backend/backend.h"

namespace winnow::train {

// Creates a backend that runs interpret(). It always computes in float64, whatever CompileOptions
// request, but refuses types that CPUs do not support.
std::unique_ptr<Backend> make_reference_backend();

}  // namespace winnow::train
