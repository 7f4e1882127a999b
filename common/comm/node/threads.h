#pragma once

#include <memory>
#include <vector>

#include "common/comm/node/node_group.h"

namespace winnow::comm {

// A group whose ranks are threads of this process; element r is rank r's. Each may be destroyed by
// itself.
std::vector<std::unique_ptr<NodeGroup>> make_thread_group(int ranks);

}  // namespace winnow::comm
