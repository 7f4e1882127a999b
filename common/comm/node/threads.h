#pragma once

#include <memory>
#include <vector>

#include "common/comm/node/node_group.h"

namespace winnow::comm {

// A NodeGroup whose ranks are threads of this process. Element r of the result is for rank r; each
// may be destroyed separately.
std::vector<std::unique_ptr<NodeGroup>> make_thread_group(int ranks);

}  // namespace winnow::comm
