#pragma once

#include <memory>

#include "train/backend/cudnn/device.h"

namespace winnow::gpu {

// The device under test. card_device.cpp opens the first card; host_device.cpp uses host memory
// instead, to test the suite itself without a card.
std::shared_ptr<train::cudnn::Device> suite_device();

}  // namespace winnow::gpu
