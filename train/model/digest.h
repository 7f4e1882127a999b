#pragma once

#include <string>

#include "train/model/model.h"

namespace winnow::train {

// Returns the XXH3-128, in hex, of the names and numbers of a model's tensors, in their order.
std::string digest_of(const Model& model);

}  // namespace winnow::train
