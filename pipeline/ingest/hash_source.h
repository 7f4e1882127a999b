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

// The hashes of one input, or why there are none.
struct HashedInput {
  std::uint64_t position = 0;  // in the listing
  int height_px = 0;           // of the whole picture
  int width_px = 0;
  std::vector<dedup::HashCode> codes;  // one a hash; none where there is a problem
  std::string problem;
};

struct HashSourceOptions {
  DecodeSettings decode{};
  int scale = 1;         // of the pictures that are hashed, as of decode()
  int threads = 0;       // TBB workers; 0: what TBB has
  int readers = 64;      // threads that read, at most; as many as are needed
  StopRequested stop{};  // asked before each input
};

// Reads every input by threads of their own, decodes and hashes them by TBB workers, and gives them
// to `take` in the order of the listing, one at a time, from any of these. Holds one image and some
// 32 MiB as read a thread, and the codes of a few hundred.
// Throws what reading the source, `take` and a stop (StoppedError) throw.
void hash_source(const datasets::Source& source, std::span<const dedup::HashKind> hashes,
                 const HashSourceOptions& options,
                 const std::function<void(const HashedInput&)>& take);

}  // namespace winnow::pipeline
