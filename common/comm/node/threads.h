#pragma once

#include <memory>
#include <vector>

#include "common/comm/node/node_group.h"

namespace winnow::comm {

// A group whose ranks are threads of this process; element r is for rank r. Each may be destroyed
// separately.
std::vector<std::unique_ptr<NodeGroup>> make_thread_group(int ranks);

}  // namespace winnow::comm
