#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dedup/fingerprints.h"
#include "pipeline/ingest/tally.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline {

// All that is known of one finished shard. While a cache is being made its parts lie in the folder
// `parts`, so that an ingest that was stopped goes on after its finished shards.
struct Part {
  ShardInfo info;  // file empty where nothing is stored
  dedup::Fingerprints fingerprints;
  std::vector<LedgerRow> ledger;
  Tally tally;
};

std::filesystem::path parts_folder(const CachePaths& paths);

// Durable. `key` stands for the source's listing and the options.
void write_part(const CachePaths& paths, std::size_t shard, const std::string& key,
                const Part& part);

// Empty unless the part is there, sound and of the same key, its shard is in place, and the system
// gave every input of it: what it would not give then, it may now.
std::optional<Part> read_part(const CachePaths& paths, std::size_t shard, const std::string& key);

// Durable; none there is fine. Before a shard is written that a part was not believed of: the file
// being written could come to look like the one it speaks of.
void remove_part(const CachePaths& paths, std::size_t shard);

}  // namespace winnow::pipeline
