#include "tests/gpu/device.h"

namespace winnow::gpu {

std::shared_ptr<train::cudnn::Device> suite_device() { return train::cudnn::open_device(0); }

}  // namespace winnow::gpu
