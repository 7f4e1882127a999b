#pragma once

#include <filesystem>

#include "tools/command.h"
#include "tools/flags/flags.h"

namespace winnow::tools {

// --report. `path` must live as long as `verb`.
void add_report_flag(Verb verb, std::filesystem::path& path);

}  // namespace winnow::tools
