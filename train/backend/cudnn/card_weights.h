#pragma once

#include <memory>
#include <vector>

#include "train/backend/cudnn/device.h"
#include "train/backend/weights.h"

namespace winnow::train::cudnn {

// Parameters, optimiser state and running statistics in device memory, updated by our own kernels
// from sums that arrive through the host.
// Learning rate, step number and whether the sums are finite are also in device memory, so that
// nothing a step launches depends on the step.
std::unique_ptr<WeightStore> make_card_weights(std::shared_ptr<Device> device,
                                               std::vector<WeightTensor> tensors,
                                               const UpdateRule& rule);

}  // namespace winnow::train::cudnn
