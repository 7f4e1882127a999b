#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dedup/review/review.h"
#include "dedup/search/search.h"
#include "dedup/table/fingerprints.h"

namespace winnow::dedup {

// Calls its argument with each linked pair once, in any order.
using PairSource = std::function<void(const std::function<void(const Edge&)>&)>;

struct SampleOptions {
  std::string hash;  // how pairs are linked, and within how many bits
  int threshold = 0;
  std::string scope = "all";
  std::uint64_t count = 400;  // pairs to draw; all if there are fewer
  std::uint64_t seed = 0;
  std::optional<double> least_quality = {};  // for the images of pairs, if given
};

// Draws pairs for judgement, so that few judgements say most about the overall precision:
// stratified sampling without replacement.
//
// Strata   The share of a stratum is its size times the expected spread of its judgements (Neyman
//          1934). Most pairs are drawn near the threshold and between different classes, where true
//          and false are equally likely. At least one each if `count` allows.
// Pure     Within a stratum all pairs are equally likely. Neither the order of the pairs nor that
//          of the rows matters.
// Memory   At most `count` pairs a stratum.
// table    Has labels, splits and file_hashes.
PairSample draw_pairs(const Fingerprints& table, const PairSource& pairs,
                      const SampleOptions& options);

// How many pairs to draw from strata of these sizes and spreads: `count` in all, or all there are.
std::vector<std::uint64_t> allocate(const std::vector<std::uint64_t>& sizes,
                                    const std::vector<double>& spreads, std::uint64_t count);

}  // namespace winnow::dedup
