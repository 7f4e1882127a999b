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

// Result of verifying a cache's images, stored so that no picture is compared twice
// (docs/formats/verified-pairs.md).
struct VerifiedPairs {
  std::string cache_digest;      // digest of the cache's manifest
  std::string hash;              // hash that selected near pairs, within `threshold`
  std::uint32_t threshold = 0;   // bits
  double least_probability = 0;  // required of pairs near by codes
  // Expected number of pairs of different pictures among those decided by pictures. nullopt: labels
  // showed that scores are unreliable.
  std::optional<double> expected_false = {};
  std::vector<SampleId> first{};  // one of each pair, smaller than `second`; pairs ascend
  std::vector<SampleId> second{};
  std::vector<float> probability{};  // probability that they show one picture; 0: decided by codes
  // From the first to the second of each pair; undefined for pairs decided by codes. Empty: written
  // by a version without maps.
  std::vector<Affine> map{};

  // Expected precision of the pairs decided by pictures. nullopt if there are none, or if scores
  // are unreliable.
  std::optional<double> precision() const noexcept;
  friend bool operator==(const VerifiedPairs&, const VerifiedPairs&) = default;
};

// options  Those of the verification.
// ids      Those of the rows.
// The caller fills in the digest.
VerifiedPairs pairs_of(const VerifiedLinks& verified, const Options& options,
                       std::span<const SampleId> ids);
// The links of rows with these ids (ascending), as far as the pairs contain them: edges and, with
// maps, the results of comparing pictures. FormatError for a pair of other ids.
std::shared_ptr<const VerifiedLinks> verified_of(const VerifiedPairs& pairs,
                                                 std::span<const SampleId> ids);
// The options for deduplicate() that go with these links.
Options options_of(const VerifiedPairs& pairs);

// Durable. Equal pairs give equal bytes.
// Errors  SystemError.
void write_verified_pairs(const std::filesystem::path& path, const VerifiedPairs& pairs);
// Errors  FormatError: damaged, or not such a file. SystemError: unreadable.
VerifiedPairs read_verified_pairs(const std::filesystem::path& path);

}  // namespace winnow::dedup
