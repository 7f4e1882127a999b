#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/sample.h"
#include "dedup/deduplicate.h"
#include "dedup/verify/verified_links.h"

namespace winnow::dedup {

// What verification of a cache's images came to, kept so that no picture is compared twice
// (docs/formats/verified-pairs.md).
struct VerifiedPairs {
  std::string cache_digest;      // of the manifest of the cache
  std::string hash;              // by whose codes pairs were near, within so many bits
  std::uint32_t threshold = 0;   // bits
  double least_probability = 0;  // that was asked of pairs near by codes
  // Pairs of different pictures that are expected among those that pictures decided; nothing:
  // labels showed that scores do not tell.
  std::optional<double> expected_false = {};
  std::vector<SampleId> first{};  // of each pair, below the second; pairs ascend
  std::vector<SampleId> second{};
  std::vector<float> probability{};  // that they show one picture; 0: codes decided
  // From the first of each to the second; of pairs that codes decided it says nothing. Empty: the
  // pairs were kept by a winnow before they had them.
  std::vector<Affine> map{};

  // The share of the pairs that pictures decided that are expected to be of one picture. Nothing
  // where there is none, or scores do not tell.
  std::optional<double> precision() const noexcept;
  friend bool operator==(const VerifiedPairs&, const VerifiedPairs&) = default;
};

// `options`: of the verification; `ids`: of the rows. The caller fills in the digest.
VerifiedPairs pairs_of(const VerifiedLinks& verified, const Options& options,
                       std::span<const SampleId> ids);
// Links of rows with these ids, which ascend, as far as pairs say them: edges, and with maps what
// pictures told. Throws FormatError: a pair of other ids.
std::shared_ptr<const VerifiedLinks> verified_of(const VerifiedPairs& pairs,
                                                 std::span<const SampleId> ids);
// What deduplicate() is to be told beside them.
Options options_of(const VerifiedPairs& pairs);

// Durable; throws SystemError. Equal pairs give equal bytes.
void write_verified_pairs(const std::filesystem::path& path, const VerifiedPairs& pairs);
// Throws FormatError: the file is damaged, or none; SystemError: it cannot be read.
VerifiedPairs read_verified_pairs(const std::filesystem::path& path);

}  // namespace winnow::dedup
