#pragma once

#include <filesystem>
#include <vector>

#include "app/report/run_page.h"

namespace winnow::app {

// UsageError where the folder holds no run.
void require_run(const std::filesystem::path& path);

// A run as a page shows it, without names and pictures of its mistakes. It may still go on. Throws
// as require_run does, and FormatError for files that are damaged.
RunView read_run(const std::filesystem::path& path);

// Runs of one name are told apart by the folders they are in.
void name_apart(std::vector<RunView>& runs, const std::vector<std::filesystem::path>& paths);

}  // namespace winnow::app
