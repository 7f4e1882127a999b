#pragma once

#include <string>

#include "tools/sweep_page.h"

namespace winnow::tools {

// The object that `winnow sweep --json` prints (docs/schemas/sweep.schema.json). Pure.
std::string sweep_json(const SweepView& view);

}  // namespace winnow::tools
