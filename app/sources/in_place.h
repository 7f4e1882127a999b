#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/session.h"
#include "app/sources/reading.h"

namespace winnow::app {

// Whether `path` exists and is no cache, finished or not.
bool is_data_set(const std::filesystem::path& path);

// Makes a cache at `out` with fingerprints of a data set, which is only read. Says what the data
// set is and how much of it could not be read. `hashes`: empty for the usual ones.
void fingerprint_in_place(const std::filesystem::path& data_set, const ReadingOptions& reading,
                          const std::vector<std::string>& hashes, const Session& session,
                          const std::filesystem::path& out);

}  // namespace winnow::app
