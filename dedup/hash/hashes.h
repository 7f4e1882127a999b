#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/image.h"
#include "common/resample.h"

namespace winnow::dedup {

// One perceptual hash: images that look alike get codes at small Hamming distance. Pure,
// thread-safe, the same bits on every machine.
struct Hash {
  std::string_view name;
  std::uint32_t version;
  int bits;
  std::string_view what;  // one line for --help
  // A gray image is resized to this, of which bits/64 words are made (bit order: CodeColumn).
  int height_px;
  int width_px;
  ResampleFilter filter;
  void (*of_resized)(ImageView small, std::uint64_t* words);

  // Of a gray image of any size >= 1x1.
  void compute(ImageView gray, std::uint64_t* words) const;
};

// imagehash's definitions, bit for bit: phash (DCT, with the DC term in the median) and dhash.
// Zauner 2010; N. Krawetz 2013.
std::span<const Hash> hashes();

// Throws UsageError naming the known hashes.
const Hash& find_hash(std::string_view name);

std::string to_hex(std::span<const std::uint64_t> code);

}  // namespace winnow::dedup
