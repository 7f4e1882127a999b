#pragma once

#include <string>

#include "app/plan/report.h"
#include "common/json.h"

namespace winnow::app {

// The tables of a plan, as lines. Each number is followed by where it comes from, where that is not
// said once for its column: m measured, s scaled, c computed. Pure.
std::string tables_of(const PlanReport& report);

// All that the tables say, and no other number; docs/schemas/plan.schema.json. Pure.
Json json_of(const PlanReport& report);

}  // namespace winnow::app
