#pragma once

#include <string>
#include <vector>

#include "pipeline/ingest/part.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/manifest.h"

namespace winnow::pipeline {

struct NamedPart {
  std::string name;  // shard_name()
  Part part;
};

// Puts parts, in order of their ids, together into the ledger and the table of fingerprints, behind
// those of `base` where that is not null, and fills in what of `manifest` follows from them. Each
// becomes durable: in its place; with a base, beside those that are there, under a name of its hash
// (CachePaths), where a reader of the new manifest finds it. `no_rows` has the columns of codes.
void assemble(const std::vector<NamedPart>& parts, const dedup::Fingerprints& no_rows,
              const Cache* base, const CachePaths& paths, Manifest& manifest);

// The same where inputs of `base` were asked for again, whose rows in the parts take the place of
// those it has. The manifest is its own but for what was asked: the shards of which parts say the
// file are made again and take that of `base`, or are new. All inputs are remarked on.
Remarks assemble_again(const std::vector<NamedPart>& parts, const dedup::Fingerprints& no_rows,
                       const Cache& base, const CachePaths& paths, Manifest& manifest);

// Moves what assemble() put beside, and shards that were made again, into their places; what
// `manifest` does not name is left alone. A cache whose manifest was replaced is whole before and
// after, and at every step between.
void settle(const CachePaths& paths, const Manifest& manifest);

}  // namespace winnow::pipeline
