#pragma once

#include <span>

#include "train/graph/operation.h"

namespace winnow::train {

// Table of all operations. To add an operation: a pair of files in this folder and a row in
// operations.cpp.
std::span<const Operation* const> operations();

}  // namespace winnow::train
