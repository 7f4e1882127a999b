#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/session.h"
#include "app/sources/reading.h"

namespace winnow::app {

// Whether `path` exists and is not a cache, finished or unfinished.
bool is_data_set(const std::filesystem::path& path);

// Computes the fingerprints of a data set into a new cache at `out`; the data set is only read.
// Tells the user what the data set is and how many of its images could not be read. `hashes`:
// names; empty: the default hashes.
void fingerprint_in_place(const std::filesystem::path& data_set, const ReadingOptions& reading,
                          const std::vector<std::string>& hashes, const Session& session,
                          const std::filesystem::path& out);

}  // namespace winnow::app
