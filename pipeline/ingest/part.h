#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/checksum.h"
#include "common/file.h"
#include "dedup/fingerprints.h"
#include "pipeline/ingest/remarks.h"
#include "pipeline/ingest/tally.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline {

// What is known of one finished shard. While a cache is being made its parts lie in the folder
// `parts`, each with the ledger and the fingerprints of its inputs: so an ingest that was stopped
// goes on after its finished shards, and holds no rows of any shard.
struct Part {
  ShardInfo info;  // file empty where nothing is stored
  Tally tally;
  FateCounts fates{};
  Remarks remarks{};
  dedup::FingerprintWriter::Size size;  // of its fingerprints

  std::uint64_t inputs() const noexcept;
};

std::filesystem::path parts_folder(const CachePaths& paths);

// Makes a part's file. `key` stands for the source's listing and the options.
class PartWriter {
 public:
  PartWriter(const CachePaths& paths, std::size_t shard, const std::string& key);
  // Inputs that follow those before, and the fingerprints of those that could be read.
  void append(const std::vector<LedgerRow>& ledger, const dedup::Fingerprints& fingerprints);
  void finish(const Part& part);  // durable

 private:
  void put(BytesView bytes);

  DurableFile file_;
  Xxh3Stream hash_;
  std::uint64_t bytes_ = 0;
};

// Empty unless the part is there, sound and of the same key, its shard is in place, and the system
// gave every input of it: what it would not give then, it may now.
std::optional<Part> read_part(const CachePaths& paths, std::size_t shard, const std::string& key);

// The rows of a part that is finished, in the pieces in which they were appended: lines of the
// ledger, fingerprints.
using TakeRows = std::function<void(const std::string&, const dedup::Fingerprints&)>;
void for_each_piece(const CachePaths& paths, std::size_t shard, const TakeRows& take);

// Durable; none there is fine. Before a shard is written that a part was not believed of: the file
// being written could come to look like the one it speaks of.
void remove_part(const CachePaths& paths, std::size_t shard);

}  // namespace winnow::pipeline
