#pragma once

#include <cstdint>
#include <memory>

#include "common/image.h"
#include "common/resample.h"
#include "dedup/hash/hashes.h"

namespace winnow::dedup {

// How a hash that works on a reduced gray image is computed.
struct SmallRule {
  enum class Order { kGrayFirst, kResizeFirst };  // imagehash's order; imagededup's order
  Order order;
  // Size of the reduced image. If both are 0: the largest square with a power of two as side that
  // fits into the image, at least 8.
  int height_px;
  int width_px;
  void (*bits)(ImageView small_gray, int orientations, std::uint64_t* words);
};

// Functions that write the bits of one hash: 1 if a value of the reduced image is greater than its
// neighbour, the mean or the median. The `or_equal` forms also write 1 for equality.
void ahash_bits(ImageView small, std::uint64_t* words);
void ahash_or_equal_bits(ImageView small, std::uint64_t* words);
void dhash_bits(ImageView small, std::uint64_t* words);
void dhash_vertical_bits(ImageView small, std::uint64_t* words);
// Functions that write the codes of one hash in `orientations` orientations (hash_name.h), all from
// one DCT.
void phash_bits(ImageView small, int orientations, std::uint64_t* words);
void phash16_bits(ImageView small, int orientations, std::uint64_t* words);
void phash_or_equal_bits(ImageView small, std::uint64_t* words);
void whash_bits(ImageView small, std::uint64_t* words);
void whash_or_equal_bits(ImageView small, std::uint64_t* words);

std::unique_ptr<HashStream> begin_small(const SmallRule& rule, int height_px, int width_px,
                                        int channels, int orientations, ResampleWeights* weights);

}  // namespace winnow::dedup
