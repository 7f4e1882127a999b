#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/image.h"

namespace winnow::dedup {

// One perceptual hash: images that look alike get codes at small Hamming distance. `compute` takes a
// gray image of any size >= 1x1 and writes bits/64 words (bit order: CodeColumn); pure, thread-safe,
// the same bits on every machine.
struct Hash {
  std::string_view name;
  std::uint32_t version;
  int bits;
  std::string_view what;  // one line for --help
  void (*compute)(ImageView gray, std::uint64_t* words);
};

// imagehash's definitions, bit for bit: phash (DCT, with the DC term in the median) and dhash.
// Zauner 2010; N. Krawetz 2013.
std::span<const Hash> hashes();

// Throws UsageError naming the known hashes.
const Hash& find_hash(std::string_view name);

std::string to_hex(std::span<const std::uint64_t> code);

}  // namespace winnow::dedup
