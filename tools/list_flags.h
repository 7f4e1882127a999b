#pragma once

#include "app/dedup/lists.h"
#include "tools/command.h"
#include "tools/flags/flags.h"

namespace winnow::tools {

// --list, --list-groups, --list-pairs, --list-look-alikes, --list-blank and --list-issues. `flags`
// must live as long as `verb`.
void add_list_flags(Verb verb, ListPlaces& flags);

}  // namespace winnow::tools
