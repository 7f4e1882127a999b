#pragma once

#include "app/session.h"
#include "common/json.h"

namespace winnow::app {

// Tells people, before the first step, what each machine of the job gives to its ranks, a line a
// machine, and warns where a launcher's binding leaves most cores idle. Collective.
//
// In   threads: --threads
// Out  the same facts, for --json
Json tell_machines(int threads, const Session& session);

}  // namespace winnow::app
