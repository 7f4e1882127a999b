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
#include "pipeline/store/cache.h"
#include "pipeline/store/tally.h"

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
  // Inputs that the system would not give. It may now: a part with some is made again.
  std::uint64_t unreadable() const noexcept {
    return fates[static_cast<std::size_t>(Fate::kUnreadable)];
  }
};

std::filesystem::path parts_folder(const CachePaths& paths);

// Makes a part's file. `key` stands for the source's listing and the options.
class PartWriter {
 public:
  PartWriter(const CachePaths& paths, const std::string& shard, const std::string& key);
  // Inputs that follow those before, and the fingerprints of those that could be read.
  void append(const std::vector<LedgerRow>& ledger, const dedup::Fingerprints& fingerprints);
  void finish(const Part& part);  // durable

 private:
  void put(BytesView bytes);

  DurableFile file_;
  Xxh3Stream hash_;
  std::uint64_t bytes_ = 0;
};

// Empty unless the part is there, sound and of the same key, and its shard is in place. `shard`,
// here and below: its shard_name().
std::optional<Part> read_part(const CachePaths& paths, const std::string& shard,
                              const std::string& key);

// The rows of a part that is finished, in the pieces in which they were appended: lines of the
// ledger, fingerprints.
using TakeRows = std::function<void(const std::string&, const dedup::Fingerprints&)>;
void for_each_piece(const CachePaths& paths, const std::string& shard, const TakeRows& take);

// Durable; none there is fine. Before a shard is written that a part was not believed of: the file
// being written could come to look like the one it speaks of.
void remove_part(const CachePaths& paths, const std::string& shard);

}  // namespace winnow::pipeline
