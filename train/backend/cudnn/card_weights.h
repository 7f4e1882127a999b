#pragma once

#include <memory>
#include <vector>

#include "train/backend/cudnn/device.h"
#include "train/backend/weights.h"

namespace winnow::train::cudnn {

// Makes a store of parameters, optimiser state and running statistics in device memory. Our own
// kernels update them, from sums of gradients that the host sends.
// The learning rate, the step number and whether the sums are finite are in device memory too, so
// that each step launches the same kernels with the same arguments.
std::unique_ptr<WeightStore> make_card_weights(std::shared_ptr<Device> device,
                                               std::vector<WeightTensor> tensors,
                                               const UpdateRule& rule);

}  // namespace winnow::train::cudnn
