#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/checksum.h"
#include "common/image.h"
#include "dedup/audit/measures.h"
#include "dedup/hash/hashes.h"
#include "dedup/hash/thumbnail.h"
#include "pipeline/store/channel_sums.h"

namespace winnow::pipeline {

// XXH3-128 of height, width, channels and pixels, and the alpha behind them of an image that is not
// opaque.
Hash128 hash_pixels(const Image& image, const Image& alpha = {});

// What is computed from the pixels of an image.
struct Prints {
  Hash128 pixel_hash;
  ChannelSums sums;
  float sharpness = 0;
  float quality = 0;
  dedup::Measures measures;          // of an orientation that is not said
  std::vector<std::uint64_t> codes;  // of the hashes, one after the other
  Image thumbnail;                   // where one was asked for
};

// In one pass: everything is made of some rows before the next are looked at, since a large picture
// takes longer to read from memory than most of this to compute. `thumbnail`: its size, or 0 x 0.
// `alpha`: of one channel, as large as the image; empty where all is opaque. It is part of the
// pixel hash, and all else but the sums is of the picture upon gray (lay_upon_gray).
Prints prints_of(const Image& image, std::span<const dedup::HashKind> hashes,
                 dedup::HashMemory& memory, dedup::ThumbnailSize thumbnail = {},
                 const Image& alpha = {}, bool is_multiplied = false);

}  // namespace winnow::pipeline
