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

// Visits each linked pair once, in any order, by calling its argument.
using PairSource = std::function<void(const std::function<void(const Edge&)>&)>;

struct SampleOptions {
  std::string hash;  // name of the hash by whose codes pairs are linked
  int threshold = 0;
  std::string scope = "all";
  std::uint64_t count = 400;  // number of pairs to draw; if there are fewer, all are drawn
  std::uint64_t seed = 0;
  std::optional<double> least_quality = {};  // for the images of pairs, if given
};

// Draws pairs for people to judge, such that few judgements estimate the overall precision best:
// stratified sampling without replacement.
//
// Strata   The number drawn from a stratum is proportional to its size times the expected spread of
//          its judgements (Neyman 1934). Most pairs are drawn near the threshold and between
//          different classes, where true and false are equally likely. At least one is drawn from
//          each if `count` allows.
// Pure     Within a stratum all pairs are equally likely to be drawn. The result depends neither on
//          the order of the pairs nor on that of the rows.
// Memory   At most `count` pairs a stratum.
// table    Has labels, splits and file_hashes.
PairSample draw_pairs(const Fingerprints& table, const PairSource& pairs,
                      const SampleOptions& options);

// How many pairs to draw from each stratum, given sizes and spreads of the strata: `count` in all,
// or all pairs if there are fewer.
std::vector<std::uint64_t> allocate(const std::vector<std::uint64_t>& sizes,
                                    const std::vector<double>& spreads, std::uint64_t count);

}  // namespace winnow::dedup
