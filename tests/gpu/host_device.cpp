#include "tests/train/cudnn/host_device.h"

#include "tests/gpu/device.h"

namespace winnow::gpu {

std::shared_ptr<train::cudnn::Device> suite_device() {
  return std::make_shared<train::cudnn::HostDevice>();
}

}  // namespace winnow::gpu
