#include "common/error.h"
#include "train/backend/cudnn/device.h"

namespace winnow::train::cudnn {

std::shared_ptr<Device> open_device(int) {
  throw Error(
      "this winnow was built without CUDA: build it with the preset cuda, or use --backend onednn");
}

}  // namespace winnow::train::cudnn
