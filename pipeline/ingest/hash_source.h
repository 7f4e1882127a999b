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

// The hash codes of one input, or the reason why there are none.
struct HashedInput {
  std::uint64_t position = 0;  // position of the input in the listing
  int height_px = 0;           // size of the whole picture at full scale
  int width_px = 0;
  std::vector<dedup::HashCode> codes;  // one code per hash; empty if there is a problem
  std::string problem;
};

struct HashSourceOptions {
  DecodeSettings decode{};
  int scale = 1;         // scale at which pictures are decoded, as for decode()
  int threads = 0;       // threads of TBB; 0: TBB's default
  int readers = 64;      // most reading threads; no more are started than needed
  StopRequested stop{};  // whether to stop; asked before each input
};

// Hashes every input of a source. Its own threads read; TBB's threads decode and hash. `take` gets
// results in the order of the listing, one at a time, on any of these threads.
// Memory  one image and about 32 MiB of encoded data per thread, and the codes of a few hundred
//         inputs
// Errors  what reading the source and `take` throw; StoppedError
void hash_source(const datasets::Source& source, std::span<const dedup::HashKind> hashes,
                 const HashSourceOptions& options,
                 const std::function<void(const HashedInput&)>& take);

}  // namespace winnow::pipeline
