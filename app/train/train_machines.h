#pragma once

#include <nlohmann/json_fwd.hpp>

#include "app/session.h"

namespace winnow::app {

// Tells people, before the first step, what each machine of the job gives to its ranks, a line a
// machine, and warns where a launcher's binding leaves most cores idle. Collective.
//
// In   threads: --threads
// Out  the same facts, for --json
nlohmann::ordered_json tell_machines(int threads, const Session& session);

}  // namespace winnow::app
