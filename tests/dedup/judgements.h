#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "dedup/review/review.h"
#include "tests/dedup/tables.h"

// Judgements of images that tests identify by numbers, through hash_of_number().
namespace winnow::dedup {

inline std::vector<Hash128> hashes_of_numbers(const std::vector<std::uint64_t>& numbers) {
  std::vector<Hash128> hashes;
  for (const std::uint64_t number : numbers) hashes.push_back(hash_of_number(number));
  return hashes;
}

inline Judgement judgement(Verdict verdict, const std::vector<std::uint64_t>& images) {
  return {.verdict = verdict, .images = hashes_of_numbers(images)};
}

// A judgement about a single image.
inline Judgement image_judgement(Verdict verdict, std::uint64_t image) {
  return {.verdict = verdict, .images = {hash_of_number(image)}, .about = About::kImage};
}

// A pair as in a PairSample: the smaller hash first.
inline std::array<Hash128, 2> pair_of(std::uint64_t a, std::uint64_t b) {
  std::array<Hash128, 2> pair{hash_of_number(a), hash_of_number(b)};
  if (pair[1] < pair[0]) std::swap(pair[0], pair[1]);
  return pair;
}

// Images with these codes. The id, file and pixels of each are its position, from 1.
inline std::vector<TestImage> images_of_codes(const std::vector<std::uint64_t>& codes) {
  std::vector<TestImage> images;
  for (const std::uint64_t code : codes) {
    const std::uint64_t number = images.size() + 1;
    images.push_back({.id = number, .code = code, .file = number, .pixels = number});
  }
  return images;
}

}  // namespace winnow::dedup
