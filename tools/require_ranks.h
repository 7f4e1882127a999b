#pragma once

#include <string>

#include "common/comm/communicator.h"

namespace winnow::tools {

// Before a verb does anything: were the processes of this launch started so that they are ranks,
// and may they be? `command`: "winnow train". A verb that does not use ranks leaves the launch, as
// what it starts are no ranks of it.
//
// Throws  UsageError, on all ranks: several processes run a verb that uses ranks and are not, all,
//         ranks of one job; several ranks run one that does not
void require_ranks(comm::Communicator& comm, const std::string& command, bool uses_ranks);

}  // namespace winnow::tools
