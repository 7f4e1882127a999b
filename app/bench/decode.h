#pragma once

#include "app/bench/held.h"
#include "app/session.h"

namespace winnow::app {

void bench_decode(const HeldRequest& request, const Session& session);

}  // namespace winnow::app
