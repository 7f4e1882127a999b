#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "dedup/decisions/deduplicate.h"

namespace winnow::dedup {

// How samples are distributed to splits (split/split.h).
struct SplitOptions {
  std::string hash = "phash";  // how duplicates are found, as in dedup::Options
  int threshold = 4;
  ChosenBy chosen_by = {};
  // Shares of train, val and test among the distributed samples; they sum to 1. Split::kNone has
  // none.
  std::array<double, kSplitCount> shares{0, 0.8, 0.1, 0.1};
  // Samples of these splits are distributed; all others stay where they are (fixed).
  std::array<bool, kSplitCount> of{true, true, true, true};
  struct Dealing {
    bool group_keys = true;  // keep samples of one group key together
    bool stay = false;       // leave samples in their splits as far as shares and blocks allow
    std::uint64_t seed = 0;
  };
  Dealing dealing = {};
  // Review decisions, as in dedup::Options; choices of what to keep are ignored.
  // Rows that are apart may still share a block, by a group key. Dropped rows get no split, and do
  // not make a split the home of a block.
  std::shared_ptr<const Decided> decided = {};
  Matching matching = {};  // as in dedup::Options
};

}  // namespace winnow::dedup
