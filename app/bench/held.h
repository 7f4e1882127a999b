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

// Input of the benchmarks that decode a data set from memory.
struct HeldRequest {
  std::filesystem::path source;
  ReadingOptions flags;
  double seconds = 0;
  int rounds = 3;
  std::uint64_t hold_mib = 1024;
  bool json = false;
};

// Inputs of a source in memory, evenly spread over its listing.
struct Held {
  std::vector<std::size_t> positions;
  std::vector<Bytes> bytes;
};
// Reads inputs up to `most_bytes`.
// Throws  UsageError: a source of bare pixels; RefusedError: nothing could be read.
Held hold(const datasets::Source& source, std::uint64_t most_bytes, const StopRequested& stop);

// Decodes the held inputs `times` times on `threads` threads. Returns the number of decoded pixels.
// copies  a folder: each thread writes what it decoded into a file there; empty: nothing is written
std::uint64_t decode_all(const Held& held, std::uint64_t times, int threads,
                         const pipeline::DecodeSettings& settings, const StopRequested& stop,
                         const std::filesystem::path& copies = {});

// Number of passes that keep one of `threads` threads busy for `seconds`.
std::uint64_t times_for(double seconds, const Held& held, int threads,
                        const pipeline::DecodeSettings& settings, const StopRequested& stop);

}  // namespace winnow::app
