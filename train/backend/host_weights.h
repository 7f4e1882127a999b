#pragma once

#include <memory>
#include <vector>

#include "train/backend/weights.h"

namespace winnow::train {

// Weights in the caller's memory. Programs are bound to it, optimisers update it in place, and
// load() and store() do nothing.
std::unique_ptr<WeightStore> make_host_weights(std::vector<WeightTensor> tensors,
                                               const UpdateRule& rule);

}  // namespace winnow::train
