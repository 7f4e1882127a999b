#pragma once

#include <cstdint>
#include <memory>

#include "common/image.h"
#include "common/resample.h"
#include "dedup/hash/hashes.h"

namespace winnow::dedup {

// A hash of an image that is made small first.
struct SmallRule {
  enum class Order { kGrayFirst, kResizeFirst };  // imagehash's and imagededup's
  Order order;
  // Of what is resized; 0 for both: the largest square of a power of two that fits, of 8 at least.
  int height_px;
  int width_px;
  void (*bits)(ImageView small_gray, int orientations, std::uint64_t* words);
};

// `greater` than the mean or median, or also equal to it.
void ahash_bits(ImageView small, std::uint64_t* words);
void ahash_or_equal_bits(ImageView small, std::uint64_t* words);
void dhash_bits(ImageView small, std::uint64_t* words);
void dhash_vertical_bits(ImageView small, std::uint64_t* words);
// Of so many orientations (hash_name.h), by one transform.
void phash_bits(ImageView small, int orientations, std::uint64_t* words);
void phash16_bits(ImageView small, int orientations, std::uint64_t* words);
void phash_or_equal_bits(ImageView small, std::uint64_t* words);
void whash_bits(ImageView small, std::uint64_t* words);
void whash_or_equal_bits(ImageView small, std::uint64_t* words);

std::unique_ptr<HashStream> begin_small(const SmallRule& rule, int height_px, int width_px,
                                        int channels, int orientations, ResampleWeights* weights);

}  // namespace winnow::dedup
