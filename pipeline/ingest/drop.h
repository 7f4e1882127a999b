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

// The data for deciding about duplicates: all fingerprints, and functions that share work among the
// ranks.
struct Fingerprinted {
  dedup::ColumnSource columns;
  dedup::SharedWork work = {};  // shared work; the search in it may be empty
  // The cache that holds the fingerprints, without images; nullptr if `columns` has no rows.
  const Cache* cache = nullptr;
};
// Decides which samples are kept (weight above 0). Called on rank 0. It is first called on every
// rank with a table without rows, before anything is read, to throw for options that it cannot
// follow. Its settings must not depend on the rows, except for what it chooses from them
// (same_but_for_choice()).
using Decide = std::function<dedup::Selection(const Fingerprinted&)>;

enum class DropPass { kFingerprint, kStore };

// Ingests without the samples that `decide` removes.
//
// Steps   Fingerprints all inputs into the folder OUT.first beside `out`; decides; then makes a
//         cache of the kept ones. Removed inputs are only in the ledger, as duplicates (ingest()
//         with left_out), and never stored. Kept inputs are read twice.
// Out     Depends on sources, options and decisions only, as for ingest(). Equals the cache that
//         compact() makes of a cache of everything, except for where its packs end.
// Resume  A stopped run continues, in either pass. OUT.first exists until `out` is finished.
// Errors  As ingest(); also UsageError with `into`, what `decide` throws, and Error if an input
//         that represents removed ones cannot be read the second time.
IngestResult ingest_dropping(std::span<const IngestSource> sources,
                             const std::filesystem::path& out, const IngestOptions& options,
                             const Decide& decide,
                             const std::function<ProgressSink(DropPass)>& progress,
                             comm::Communicator& comm);

}  // namespace winnow::pipeline
