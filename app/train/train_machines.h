#pragma once

#include "app/session.h"
#include "common/json.h"

namespace winnow::app {

// Prints, before the first step, the cores, memory and GPUs that each machine gives to its ranks.
// Warns if a launcher's binding leaves most cores idle. Collective.
//
// threads  value of --threads
// Out      the same facts, for --json
Json tell_machines(int threads, const Session& session);

}  // namespace winnow::app
