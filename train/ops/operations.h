#pragma once

#include <span>

#include "train/graph/operation.h"

namespace winnow::train {

// Every operation. One more is a pair of files in this folder and a row in operations.cpp.
std::span<const Operation* const> operations();

}  // namespace winnow::train
