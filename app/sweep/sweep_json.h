#pragma once

#include <string>

#include "app/sweep/sweep_page.h"

namespace winnow::app {

// The results of a sweep as the JSON object that `winnow sweep --json` prints
// (docs/schemas/sweep.schema.json). Pure.
std::string sweep_json(const SweepView& view);

}  // namespace winnow::app
