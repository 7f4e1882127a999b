#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/session.h"
#include "app/sources/reading.h"

namespace winnow::app {

// Whether there is something at `path` that is no cache, finished or not.
bool is_data_set(const std::filesystem::path& path);

// Makes a cache at `out` of the fingerprints of a data set, which is only read, and says what the
// data set is and how much of it could not be read. `hashes` empty: those of an ingest.
void fingerprint_in_place(const std::filesystem::path& data_set, const ReadingOptions& reading,
                          const std::vector<std::string>& hashes, const Session& session,
                          const std::filesystem::path& out);

}  // namespace winnow::app
