#pragma once

#include <cstdint>
#include <memory>

#include "common/image.h"
#include "common/resample.h"
#include "dedup/hash/hashes.h"

namespace winnow::dedup {

// Rule of a hash that works on a reduced image.
struct SmallRule {
  enum class Order { kGrayFirst, kResizeFirst };  // imagehash's order; imagededup's order
  Order order;
  // Size of the reduced image. 0 for both: the largest power-of-two square that fits, at least 8.
  int height_px;
  int width_px;
  void (*bits)(ImageView small_gray, int orientations, std::uint64_t* words);
};

// Bits for "greater than" the mean or median; the `or_equal` forms also count equality.
void ahash_bits(ImageView small, std::uint64_t* words);
void ahash_or_equal_bits(ImageView small, std::uint64_t* words);
void dhash_bits(ImageView small, std::uint64_t* words);
void dhash_vertical_bits(ImageView small, std::uint64_t* words);
// Codes in `orientations` orientations (hash_name.h) from one transform.
void phash_bits(ImageView small, int orientations, std::uint64_t* words);
void phash16_bits(ImageView small, int orientations, std::uint64_t* words);
void phash_or_equal_bits(ImageView small, std::uint64_t* words);
void whash_bits(ImageView small, std::uint64_t* words);
void whash_or_equal_bits(ImageView small, std::uint64_t* words);

std::unique_ptr<HashStream> begin_small(const SmallRule& rule, int height_px, int width_px,
                                        int channels, int orientations, ResampleWeights* weights);

}  // namespace winnow::dedup
