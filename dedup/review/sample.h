#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dedup/fingerprints.h"
#include "dedup/review/review.h"
#include "dedup/search/search.h"

namespace winnow::dedup {

// Calls its argument with each linked pair once, in any order.
using PairSource = std::function<void(const std::function<void(const Edge&)>&)>;

struct SampleOptions {
  std::string hash;  // by which pairs are linked, and within how many bits
  int threshold = 0;
  std::string scope = "all";
  std::uint64_t count = 400;  // pairs to draw; fewer where there are fewer
  std::uint64_t seed = 0;
  std::optional<double> least_quality = {};  // of the images of pairs, where it was said
};

// Pairs to be judged, so that few judgements say most about the precision of all: stratified
// sampling without replacement. A stratum has as much of them as its size times the spread that
// its judgements are expected to have (Neyman 1934): most near the threshold and among pairs of
// other classes, where true and false are as likely; at least one where `count` allows. Within a
// stratum all pairs are as likely. Pure: neither the order of the pairs nor that of the rows
// matters. Holds at most `count` pairs a stratum. `table` has labels, splits and file_hashes.
PairSample draw_pairs(const Fingerprints& table, const PairSource& pairs,
                      const SampleOptions& options);

// How many to draw of strata of these sizes and spreads: `count` in all, or as many as there are.
std::vector<std::uint64_t> allocate(const std::vector<std::uint64_t>& sizes,
                                    const std::vector<double>& spreads, std::uint64_t count);

}  // namespace winnow::dedup
