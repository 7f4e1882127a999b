#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/progress.h"

namespace winnow::pipeline {

// Result of verifying a cache.
struct Verified {
  std::vector<std::string> damage;     // each names a file and its problem
  std::uint64_t samples = 0;           // samples whose records should exist
  std::uint64_t affected = 0;          // unreadable ones among them
  std::vector<std::string> first_few;  // names of some of these, or ids if the ledger is damaged
  std::uint64_t shards = 0;            // number of shards
  std::uint64_t records = 0;           // number of records by the manifest
  std::uint64_t bytes = 0;             // their size
  std::vector<std::string> selections;
  std::string digest;

  bool whole() const noexcept { return damage.empty() && affected == 0; }
};

// Reads a cache completely, continuing after damage, to report its extent.
// Without selection  Every byte of the shards, by block hashes; where these do not match, every
//                    record. The labels of all records; fingerprints, ledger, all selections.
// With a selection   Only the records of the samples it keeps, each by its checksum.
// Progress           Counts bytes of shards; with a selection, records.
// Errors             As Cache::open() and read_selection() if there is no cache, no usable
//                    manifest, or no such selection. UsageError for a selection of a cache without
//                    images.
Verified verify_cache(const std::filesystem::path& root, const std::string& selection,
                      const ProgressSink& progress = {});

// "CACHE is damaged: ...; 12 of 60,000 samples cannot be read, ..."; empty if there is no damage.
std::string sentence_of(const Verified& verified, const std::filesystem::path& root);

}  // namespace winnow::pipeline
