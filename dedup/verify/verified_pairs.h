#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/sample.h"
#include "dedup/decisions/deduplicate.h"
#include "dedup/verify/verified_links.h"

namespace winnow::dedup {

// Results of comparing the pictures of a cache, stored so that no pair is compared twice
// (docs/formats/verified-pairs.md). Vectors have one entry a pair.
struct VerifiedPairs {
  std::string cache_digest;      // digest of the manifest of the cache
  std::string hash;              // hash by which near pairs were selected, within `threshold`
  std::uint32_t threshold = 0;   // bits
  double least_probability = 0;  // minimum for pairs that are near by hash codes
  // Expected number of different pictures among the pairs decided by comparing pictures. nullopt:
  // labels showed that scores are unreliable.
  std::optional<double> expected_false = {};
  std::vector<SampleId> first{};  // smaller id of each pair, the other is in `second`; pairs ascend
  std::vector<SampleId> second{};
  std::vector<float> probability{};  // by pair, of being one picture; 0: decided by hash codes
  // The map from the first to the second picture of each pair; undefined if hash codes decided.
  // Empty: written by a version without maps.
  std::vector<Affine> map{};

  // Expected share of true pairs among those decided by comparing pictures. nullopt if there are
  // none, or if scores are unreliable.
  std::optional<double> precision() const noexcept;
  friend bool operator==(const VerifiedPairs&, const VerifiedPairs&) = default;
};

// Converts verified links to the form that is stored. The caller fills in cache_digest.
// options  Those of the verification.
// ids      The sample ids of the rows.
VerifiedPairs pairs_of(const VerifiedLinks& verified, const Options& options,
                       std::span<const SampleId> ids);
// Converts stored pairs to links of rows with these ids (ascending): edges and, if there are maps,
// the results of comparing pictures. What is not stored stays empty. Throws FormatError for a pair
// of other ids.
std::shared_ptr<const VerifiedLinks> verified_of(const VerifiedPairs& pairs,
                                                 std::span<const SampleId> ids);
// The options for deduplicate() under which these pairs were verified.
Options options_of(const VerifiedPairs& pairs);

// Writes the pairs to a file. It is on disk when the function returns. Equal pairs give equal
// bytes.
// Errors  SystemError.
void write_verified_pairs(const std::filesystem::path& path, const VerifiedPairs& pairs);
// Reads a file of verified pairs.
// Errors  FormatError: damaged, or no such file format. SystemError: unreadable.
VerifiedPairs read_verified_pairs(const std::filesystem::path& path);

}  // namespace winnow::dedup
