#pragma once

#include "app/session.h"
#include "common/json.h"

namespace winnow::app {

// Prints, before the first step, what each machine gives to its ranks, one line each. Warns if a
// launcher's binding leaves most cores idle. Collective.
//
// In   threads: --threads
// Out  the same facts, for --json
Json tell_machines(int threads, const Session& session);

}  // namespace winnow::app
