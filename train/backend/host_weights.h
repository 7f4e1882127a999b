#pragma once

#include <memory>
#include <vector>

#include "train/backend/weights.h"

namespace winnow::train {

// Makes a store that leaves the weights in the caller's memory. Programs are bound to this memory,
// optimisers update it in place, and load() and store() do nothing.
std::unique_ptr<WeightStore> make_host_weights(std::vector<WeightTensor> tensors,
                                               const UpdateRule& rule);

}  // namespace winnow::train
