#include "common/comm/nccl/nccl.h"
#include "common/error.h"

namespace winnow::comm {

bool nccl_built() noexcept { return false; }

std::unique_ptr<NodeGroup> make_nccl_group(Communicator&, std::chrono::seconds) {
  throw Error(
      "this build has no NCCL; install NCCL 2.28 or newer, and configure the build with "
      "-DWINNOW_CUDA=ON");
}

}  // namespace winnow::comm
