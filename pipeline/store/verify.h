#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/progress.h"

namespace winnow::pipeline {

// The result of verifying a cache.
struct Verified {
  std::vector<std::string> damage;  // damaged files: each text names a file and its problem
  std::uint64_t samples = 0;        // number of samples that should have records
  std::uint64_t affected = 0;       // number of these samples that cannot be read
  // Names of the first affected samples, or ids if the ledger is damaged.
  std::vector<std::string> first_few;
  std::uint64_t shards = 0;
  std::uint64_t records = 0;  // number of records by the manifest
  std::uint64_t bytes = 0;    // size of all shards
  std::vector<std::string> selections;
  std::string digest;

  bool whole() const noexcept { return damage.empty() && affected == 0; }
};

// Reads a cache completely and reports all its damage.
// Without selection  Reads every byte of the shards and compares block hashes; in blocks that do
//                    not match, every record. Checks the labels of all records, fingerprints,
//                    ledger, and all selections.
// With a selection   Reads only the records of samples that it keeps, and compares their checksums.
// Progress           Counts bytes of shards; with a selection, records.
// Errors             As Cache::open() and read_selection() if there is no cache, no usable
//                    manifest, or no such selection. UsageError for a selection of a cache without
//                    images.
Verified verify_cache(const std::filesystem::path& root, const std::string& selection,
                      const ProgressSink& progress = {});

// The result in a sentence: "CACHE is damaged: ...; 12 of 60,000 samples cannot be read, ...";
// empty if there is no damage.
std::string sentence_of(const Verified& verified, const std::filesystem::path& root);

}  // namespace winnow::pipeline
