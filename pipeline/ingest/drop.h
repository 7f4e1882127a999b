#pragma once

#include <filesystem>
#include <functional>
#include <span>

#include "common/comm/communicator.h"
#include "common/progress.h"
#include "dedup/decisions/deduplicate.h"
#include "dedup/ranks/shared_search.h"
#include "dedup/table/fingerprints.h"
#include "dedup/table/selection.h"
#include "pipeline/ingest/ingest.h"

namespace winnow::pipeline {

class Cache;

// The basis of a decision: all fingerprints, and work shared by the ranks.
struct Fingerprinted {
  dedup::ColumnSource columns;
  dedup::SharedWork work = {};  // its search may be empty
  // The cache of the fingerprints, without images; nullptr: `columns` has no rows.
  const Cache* cache = nullptr;
};
// Decides which samples stay (weight above 0). Called on rank 0.
// First, before anything is read, it is called on every rank with a table without rows, to throw
// for what it cannot do. Its settings must not depend on the rows, except for what it chooses from
// them (same_but_for_choice()).
using Decide = std::function<dedup::Selection(const Fingerprinted&)>;

enum class DropPass { kFingerprint, kStore };

// Ingests without the samples that `decide` removes.
//
// Steps   Fingerprints all inputs into the folder OUT.first beside `out`; decides; then makes a
//         cache of the remaining ones. Removed inputs are only in the ledger, as duplicates
//         (ingest() with left_out), and never stored. Kept inputs are read twice.
// Out     Depends on sources, options and decisions only, as for ingest(). Equals a compacted cache
//         of everything, except for where its packs end.
// Resume  A stopped run continues, in either pass. OUT.first exists until `out` is finished.
// Errors  As ingest(); also UsageError with `into`, what `decide` throws, and Error if the
//         representative of others cannot be read the second time.
IngestResult ingest_dropping(std::span<const IngestSource> sources,
                             const std::filesystem::path& out, const IngestOptions& options,
                             const Decide& decide,
                             const std::function<ProgressSink(DropPass)>& progress,
                             comm::Communicator& comm);

}  // namespace winnow::pipeline
