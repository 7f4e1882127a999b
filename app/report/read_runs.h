#pragma once

#include <filesystem>
#include <vector>

#include "app/report/run_page.h"

namespace winnow::app {

// Throws UsageError if the folder holds no run.
void require_run(const std::filesystem::path& path);

// Reads a run for a page, without names and pictures of its mistakes. The run may be going on.
// Throws as require_run(), and FormatError for damaged files.
RunView read_run(const std::filesystem::path& path);

// Adds folders to the names of runs with equal names.
void name_apart(std::vector<RunView>& runs, const std::vector<std::filesystem::path>& paths);

}  // namespace winnow::app
