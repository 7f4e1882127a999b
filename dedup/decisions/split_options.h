#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "dedup/decisions/deduplicate.h"

namespace winnow::dedup {

// How samples are distributed to splits such that duplicates stay together (split/split.h).
struct SplitOptions {
  std::string hash = "phash";  // hash by which duplicates are found, as in dedup::Options
  int threshold = 4;
  ChosenBy chosen_by = {};
  // Shares of train, val and test in the distributed samples, with sum 1. The share of Split::kNone
  // is 0.
  std::array<double, kSplitCount> shares{0, 0.8, 0.1, 0.1};
  // Samples of these splits are distributed. All others are fixed: they stay in their split.
  std::array<bool, kSplitCount> of{true, true, true, true};
  struct Dealing {
    bool group_keys = true;  // whether samples of one group key stay together
    bool stay = false;       // keep samples in their splits as far as shares and duplicates allow
    std::uint64_t seed = 0;
  };
  Dealing dealing = {};
  // Review decisions, as in dedup::Options. Choices of which image to keep are ignored.
  // Rows that a review calls different may still be kept together by a group key. Rows that it
  // drops get no split, and do not decide where other rows of their group go.
  std::shared_ptr<const Decided> decided = {};
  Matching matching = {};  // as in dedup::Options
};

}  // namespace winnow::dedup
