#pragma once

#include <memory>
#include <vector>

#include "train/backend/weights.h"

namespace winnow::train {

// Weights that stay in the caller's memory: programs are bound to it, load() and store() do
// nothing, optimisers change it in place.
std::unique_ptr<WeightStore> make_host_weights(std::vector<WeightTensor> tensors,
                                               const UpdateRule& rule);

}  // namespace winnow::train
