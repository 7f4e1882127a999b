#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/checksum.h"
#include "common/rng.h"
#include "dedup/table/fingerprints.h"

namespace winnow::dedup {

// Random numbers for one test, depending on the seed.
inline CounterRng test_rng(std::uint64_t seed) { return {seed, 0, 0, RandomUse::kTest}; }

// The properties of one image that a test sets. The rest of its row matches no other image.
struct TestImage {
  SampleId id = 0;
  Split split = Split::kTrain;
  std::vector<std::int32_t> labels{0};
  std::uint64_t code = 0;
  std::uint64_t file = 0;    // equal numbers: equal file hashes
  std::uint64_t pixels = 0;  // equal numbers: equal pixel hashes
  std::uint32_t width_px = 32;
  float sharpness = 1;
  float quality = 50;
};

inline Hash128 hash_of_number(std::uint64_t number) {
  return xxh3_128(std::as_bytes(std::span(&number, 1)));
}

// A table with one column of 64-bit codes named phash. Ids must ascend.
inline Fingerprints make_table(const std::vector<TestImage>& images) {
  Fingerprints table;
  CodeColumn codes{"phash", 1, 64, {}};
  for (const TestImage& image : images) {
    table.ids.push_back(image.id);
    table.splits.push_back(image.split);
    table.labels.push_back(image.labels);
    table.group_keys.push_back(std::span<const char>());
    table.widths_px.push_back(image.width_px);
    table.heights_px.push_back(32);
    table.file_bytes.push_back(1000);
    table.file_hashes.push_back(hash_of_number(image.file));
    table.pixel_hashes.push_back(hash_of_number(image.pixels));
    table.sharpness.push_back(image.sharpness);
    table.quality.push_back(image.quality);
    codes.words.push_back(image.code);
  }
  table.codes.push_back(std::move(codes));
  return table;
}

// A word of 64 bits with `count` random bits set.
inline std::uint64_t random_flips(CounterRng& rng, int count) {
  std::uint64_t flips = 0;
  while (std::popcount(flips) < count) flips |= std::uint64_t{1} << rng.below(64);
  return flips;
}

}  // namespace winnow::dedup
