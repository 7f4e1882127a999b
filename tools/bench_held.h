#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "common/stop.h"
#include "datasets/source.h"
#include "pipeline/decode/decode.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "tools/ingest_flags.h"

namespace winnow::tools {

// Of the benchmarks that decode a data set from memory.
struct HeldOptions {
  std::filesystem::path source;
  IngestFlags flags;
  double seconds = 0;
  int rounds = 3;
  std::uint64_t hold_mib = 1024;
  bool json = false;
};
// `options` must live as long as the verb, which is returned.
Verb add_held_bench(Verb bench, const std::string& name, const std::string& what,
                    HeldOptions& options);

// Inputs of a source, evenly spread over its listing, in memory.
struct Held {
  std::vector<std::size_t> positions;
  std::vector<Bytes> bytes;
};
// UsageError for a source of bare pixels, RefusedError where nothing could be read.
Held hold(const datasets::Source& source, std::uint64_t most_bytes, const StopRequested& stop);

// Decodes what is held `times` times over on `threads` threads, and nothing else but, where a
// folder for `copies` is given, to write what was decoded into a file for each thread. Returns the
// pixels that were decoded.
std::uint64_t decode_all(const Held& held, std::uint64_t times, int threads,
                         const pipeline::DecodeSettings& settings, const StopRequested& stop,
                         const std::filesystem::path& copies = {});

// How often what is held must be gone through for one thread of `threads` to be busy for `seconds`.
std::uint64_t times_for(double seconds, const Held& held, int threads,
                        const pipeline::DecodeSettings& settings, const StopRequested& stop);

}  // namespace winnow::tools
