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

// XXH3-128 of height, width, channels and pixels, followed by alpha if the image is not opaque.
Hash128 hash_pixels(const Image& image, const Image& alpha = {});

// Everything that an ingest computes from an image's pixels.
struct Prints {
  Hash128 pixel_hash;
  ChannelSums sums;
  float sharpness = 0;
  float quality = 0;
  dedup::Measures measures;          // measures for issues, without the orientation
  std::vector<std::uint64_t> codes;  // codes of all hashes, one after the other
  Image thumbnail;                   // thumbnail, if requested
};

// Computes everything row by row in one pass, because reading a large picture from memory takes
// longer than most of the computations.
// thumbnail  size of the thumbnail; 0 x 0: none
// alpha      One channel of the image's size; empty: opaque. It is part of the pixel hash.
//            Everything else, except the sums, is computed from the picture on gray
//            (compose_on_gray).
Prints prints_of(const Image& image, std::span<const dedup::HashKind> hashes,
                 dedup::HashMemory& memory, dedup::ThumbnailSize thumbnail = {},
                 const Image& alpha = {}, bool is_multiplied = false);

}  // namespace winnow::pipeline
