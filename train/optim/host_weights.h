#pragma once

#include <memory>
#include <vector>

#include "train/backend/weights.h"

namespace winnow::train {

// Weights that stay where the caller has them: programs are bound to that memory, load() and
// store() do nothing, optimizers change it in place.
std::unique_ptr<Weights> make_host_weights(std::vector<WeightTensor> tensors,
                                           const UpdateRule& rule);

}  // namespace winnow::train
