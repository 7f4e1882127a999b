#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "pipeline/store/cache.h"
#include "tools/command.h"
#include "tools/ingest_flags.h"

namespace winnow::tools {

// What is added to an index, or looked for in it: caches and data sets.
struct IndexInputs {
  std::vector<std::filesystem::path> paths;
  IngestFlags reading;  // of data sets
};

// `inputs` must live as long as `app`.
void add_index_inputs(CLI::App& app, IndexInputs& inputs);

// Throws StoppedError once a stop was asked for.
void stop_if_asked(const Session& session);

// Calls `use` with a cache, or with one of the fingerprints of a data set, which is gone
// afterwards.
void with_cache(const std::filesystem::path& input, const IngestFlags& reading,
                const std::string& hash, const Session& session,
                const std::function<void(const pipeline::Cache&)>& use);

}  // namespace winnow::tools
