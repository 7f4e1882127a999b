#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/checksum.h"
#include "common/file.h"
#include "dedup/table/fingerprints.h"
#include "pipeline/ingest/remarks.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/tally.h"

namespace winnow::pipeline {

// The state of one finished shard. While a cache is being made, its folder `parts` has one file per
// shard, with the ledger rows and fingerprints of the shard's inputs. So an interrupted ingest
// continues after its finished shards, and need not hold their rows in memory.
struct Part {
  ShardInfo info;  // entry of the shard in the manifest; `file` is empty if nothing is stored
  Tally tally;
  FateCounts fates{};
  Remarks remarks{};
  dedup::FingerprintWriter::Size size;  // size of the shard's fingerprints

  std::uint64_t inputs() const noexcept;
  // Number of inputs that the system could not deliver, as after an I/O error. Because it may now,
  // a part with such inputs is made again.
  std::uint64_t unreadable() const noexcept {
    return fates[static_cast<std::size_t>(Fate::kUnreadable)];
  }
};

std::filesystem::path parts_folder(const CachePaths& paths);

// Writes the file of a part. `key` identifies the source's listing and the options.
class PartWriter {
 public:
  PartWriter(const CachePaths& paths, const std::string& shard, const std::string& key);
  // Appends the ledger rows of the next inputs, and the fingerprints of those that are readable.
  void append(const std::vector<LedgerRow>& ledger, const dedup::Fingerprints& fingerprints);
  void finish(const Part& part);  // durable

 private:
  void put(BytesView bytes);

  DurableFile file_;
  Xxh3Stream hash_;
  std::uint64_t bytes_ = 0;
};

// Reads a part. nullopt unless it exists, is undamaged, has this key, and its shard's file exists.
// Here and below, `shard` is a shard_name().
std::optional<Part> read_part(const CachePaths& paths, const std::string& shard,
                              const std::string& key);

// Passes on the rows of a finished part, in the pieces in which they were appended: ledger lines,
// fingerprints.
using TakeRows = std::function<void(const std::string&, const dedup::Fingerprints&)>;
void for_each_piece(const CachePaths& paths, const std::string& shard, const TakeRows& take);

// Removes a part durably; it need not exist. Call it before writing a shard whose part was
// rejected: otherwise the new file could happen to match the old part.
void remove_part(const CachePaths& paths, const std::string& shard);

}  // namespace winnow::pipeline
