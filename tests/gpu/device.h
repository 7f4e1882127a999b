#pragma once

#include <memory>

#include "train/backend/cudnn/device.h"

namespace winnow::gpu {

// What the suite is run on: card_device.cpp opens the first card; host_device.cpp takes host memory
// in its place, to try the suite itself where there is no card.
std::shared_ptr<train::cudnn::Device> suite_device();

}  // namespace winnow::gpu
