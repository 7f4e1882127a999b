#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/sample.h"
#include "dedup/cluster/cluster.h"
#include "tests/dedup/tables.h"

// Samples to be assigned to splits or folds.
namespace winnow::dedup {

struct World {
  Fingerprints table;
  Components blocks;

  void add(std::uint32_t block, const std::vector<std::int32_t>& labels,
           Split split = Split::kNone) {
    table.ids.push_back(100 + 2 * table.size());
    table.splits.push_back(split);
    table.labels.push_back(labels);
    blocks.of_row.push_back(block);
    blocks.count = std::max(blocks.count, block + 1);
  }
  // Adds a block with this many samples of each label.
  void add_block(const std::vector<std::pair<std::int32_t, int>>& what,
                 Split split = Split::kNone) {
    const std::uint32_t block = blocks.count;
    for (const auto& [label, count] : what) {
      for (int i = 0; i < count; ++i) add(block, {label}, split);
    }
  }
  void add_singles(std::int32_t label, int count, Split split = Split::kNone) {
    for (int i = 0; i < count; ++i) add_block({{label, 1}}, split);
  }
};

// Classes with several blocks of a single class each, and single samples.
inline World world_of_blocks(CounterRng& rng, int classes, std::uint32_t largest) {
  World world;
  for (int label = 0; label < classes; ++label) {
    for (std::uint32_t i = rng.below(40); i > 0; --i) {
      world.add_block({{label, static_cast<int>(1 + rng.below(largest))}});
    }
    world.add_singles(label, static_cast<int>(rng.below(rng.below(2) == 0 ? 30 : 1) + 1));
  }
  return world;
}

// Pictures with copies and bursts, in all splits.
inline Fingerprints table_with_copies(std::uint64_t seed, std::uint32_t count) {
  CounterRng rng = test_rng(seed);
  std::vector<TestImage> images;
  std::uint64_t unique = 1;
  for (std::uint32_t i = 0; i < count; ++i) {
    TestImage image{.id = 10 + i,
                    .split = static_cast<Split>(rng.below(4)),
                    .labels = {static_cast<std::int32_t>(rng.below(5))},
                    .code = rng.next_u64(),
                    .file = unique++,
                    .pixels = unique++};
    if (i > 0 && rng.below(4) == 0) {
      const TestImage& other = images[rng.below(i)];
      image.labels = other.labels;
      if (rng.below(2) == 0)
        image.pixels = other.pixels;
      else
        image.code = other.code ^ random_flips(rng, static_cast<int>(rng.below(5)));
    }
    images.push_back(image);
  }
  Fingerprints table = make_table(images);
  table.group_keys = {};
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string key = rng.below(5) == 0 ? "burst " + std::to_string(rng.below(count)) : "";
    table.group_keys.push_back(key);
  }
  return table;
}

}  // namespace winnow::dedup
