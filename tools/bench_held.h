#pragma once

#include <string>

#include "app/bench/held.h"
#include "tools/command.h"
#include "tools/flags/flags.h"

namespace winnow::tools {
// `options` must live as long as the verb, which is returned.
Verb add_held_bench(Verb bench, const std::string& name, const std::string& what,
                    HeldRequest& options);

}  // namespace winnow::tools
