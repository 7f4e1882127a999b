#pragma once

#include <filesystem>
#include <vector>

#include "app/report/run_page.h"

namespace winnow::app {

// Throws UsageError if the folder is not the folder of a training run.
void require_run(const std::filesystem::path& path);

// Reads a training run for a page, without the pictures of its mistakes and their names. The run
// may still be going on. Throws UsageError if it is no run, FormatError for damaged files.
RunView read_run(const std::filesystem::path& path);

// Makes equal names of runs different by adding their folders.
void name_apart(std::vector<RunView>& runs, const std::vector<std::filesystem::path>& paths);

}  // namespace winnow::app
