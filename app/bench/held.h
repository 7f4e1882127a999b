#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "app/session.h"
#include "app/sources/reading.h"
#include "common/bytes.h"
#include "common/stop.h"
#include "datasets/source.h"

namespace winnow::app {

// Of the benchmarks that decode a data set from memory.
struct HeldRequest {
  std::filesystem::path source;
  ReadingOptions flags;
  double seconds = 0;
  int rounds = 3;
  std::uint64_t hold_mib = 1024;
  bool json = false;
};

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

}  // namespace winnow::app
