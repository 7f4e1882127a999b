#pragma once

#include <string>
#include <vector>

#include "pipeline/ingest/part.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/manifest.h"

namespace winnow::pipeline {

// The finished state of one shard, and the shard's name.
struct NamedPart {
  std::string name;  // name of the shard, shard_name()
  Part part;
};

// Merges finished parts (one per shard), in order of their ids, into the ledger and the table of
// fingerprints, after those of `base` unless it is null. Sets the fields of `manifest` that follow
// from them. Durable.
//
// Names    Without a base, the files get their final names. With a base, they are written beside
//          the existing ones, under names with their hash (CachePaths), where a reader of the new
//          manifest finds them.
// no_rows  a table without rows, which has the columns of codes
void assemble(const std::vector<NamedPart>& parts, const dedup::Fingerprints& no_rows,
              const Cache* base, const CachePaths& paths, Manifest& manifest);

// As assemble(), after unreadable inputs of `base` were retried; their rows in the parts replace
// the old ones. The manifest is that of `base` except for what was retried: shards whose parts name
// a file are new, or were rewritten and replace that of `base`. Returns remarks on all inputs.
Remarks assemble_again(const std::vector<NamedPart>& parts, const dedup::Fingerprints& no_rows,
                       const Cache& base, const CachePaths& paths, Manifest& manifest);

// Moves the files that assemble() wrote beside the existing ones, and rewritten shards, to their
// final names. Files that `manifest` does not name stay. A cache with the new manifest is valid
// before, after, and at every step between.
void settle(const CachePaths& paths, const Manifest& manifest);

}  // namespace winnow::pipeline
