#pragma once

#include <string>

#include "app/plan/report.h"
#include "common/json.h"

namespace winnow::app {

// The tables of a plan, as lines. A letter after a number tells where it comes from, unless its
// column does: m measured, s scaled, c computed. Pure.
std::string tables_of(const PlanReport& report);

// The numbers of the tables as JSON, and no others; docs/schemas/plan.schema.json. Pure.
Json json_of(const PlanReport& report);

}  // namespace winnow::app
