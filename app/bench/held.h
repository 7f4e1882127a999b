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

// Options of the benchmarks that decode a data set from memory.
struct HeldRequest {
  std::filesystem::path source;
  ReadingOptions flags;
  double seconds = 0;
  int rounds = 3;
  std::uint64_t hold_mib = 1024;
  bool json = false;
};

// Encoded inputs of a data set in memory, evenly spaced over its listing.
struct Held {
  std::vector<std::size_t> positions;
  std::vector<Bytes> bytes;
};
// Reads inputs of a data set, up to `most_bytes` in all.
// Throws  UsageError: a source without encoded images; RefusedError: nothing could be read.
Held hold(const datasets::Source& source, std::uint64_t most_bytes, const StopRequested& stop);

// Decodes all held inputs `times` times on `threads` threads. Returns the number of decoded pixels.
// copies  folder in which each thread writes the decoded pixels to a file; empty: they are not
//         written
std::uint64_t decode_all(const Held& held, std::uint64_t times, int threads,
                         const pipeline::DecodeSettings& settings, const StopRequested& stop,
                         const std::filesystem::path& copies = {});

// How often to decode all held inputs to keep each of `threads` threads busy for `seconds`.
std::uint64_t times_for(double seconds, const Held& held, int threads,
                        const pipeline::DecodeSettings& settings, const StopRequested& stop);

}  // namespace winnow::app
