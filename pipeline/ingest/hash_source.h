#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/stop.h"
#include "datasets/source.h"
#include "dedup/hash/hashes.h"
#include "pipeline/decode/settings.h"

namespace winnow::pipeline {

// The hashes of one input, or the reason why there are none.
struct HashedInput {
  std::uint64_t position = 0;  // in the listing
  int height_px = 0;           // size of the full picture
  int width_px = 0;
  std::vector<dedup::HashCode> codes;  // one for each hash; empty if there is a problem
  std::string problem;
};

struct HashSourceOptions {
  DecodeSettings decode{};
  int scale = 1;         // at which pictures are decoded, as for decode()
  int threads = 0;       // TBB workers; 0: TBB's default
  int readers = 64;      // maximum number of reading threads; as many as needed
  StopRequested stop{};  // asked before each input
};

// Reads every input with threads of its own, decodes and hashes them with TBB workers, and passes
// results to `take` in the order of the listing, one at a time, on any of these threads.
// Memory  One image and about 32 MiB of encoded data a thread, and the codes of a few hundred
//         inputs.
// Errors  What reading the source and `take` throw; StoppedError.
void hash_source(const datasets::Source& source, std::span<const dedup::HashKind> hashes,
                 const HashSourceOptions& options,
                 const std::function<void(const HashedInput&)>& take);

}  // namespace winnow::pipeline
