#pragma once

#include "app/load/load_shards.h"
#include "tools/command.h"
#include "tools/flags/flags.h"

namespace winnow::tools {
void add_memory_flags(Verb verb, MemoryOptions& flags);
void add_machine_flags(Verb verb, MemoryOptions& flags);  // of those the ones about machines

}  // namespace winnow::tools
