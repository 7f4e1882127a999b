#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/progress.h"

namespace winnow::pipeline {

// What is wrong with a cache.
struct Verified {
  std::vector<std::string> damage;     // each names a file and says what is wrong with it
  std::uint64_t samples = 0;           // whose records were to be there
  std::uint64_t affected = 0;          // of them, those that cannot be read
  std::vector<std::string> first_few;  // of these, by name, or by id where the ledger is damaged
  std::uint64_t shards = 0;            // of the cache
  std::uint64_t records = 0;           // in them, as the manifest says
  std::uint64_t bytes = 0;             // of them
  std::vector<std::string> selections;
  std::string digest;

  bool whole() const noexcept { return damage.empty() && affected == 0; }
};

// Reads a cache and goes on where something is damaged, to say how much is. Without a selection:
// every byte of the shards, by the hashes of their blocks, and where those do not match every
// record; the labels of all records; the fingerprints, the ledger, all selections. With one: only
// the records of the samples it keeps, each by its checksum. Throws as Cache::open and
// read_selection do where there is no cache, no manifest to go by, or no such selection; UsageError
// for a selection of a cache without images. Progress counts bytes of shards, with a selection
// records.
Verified verify_cache(const std::filesystem::path& root, const std::string& selection,
                      const ProgressSink& progress = {});

// "CACHE is damaged: ...; 12 of 60,000 samples cannot be read, ..."; empty when it is whole.
std::string sentence_of(const Verified& verified, const std::filesystem::path& root);

}  // namespace winnow::pipeline
