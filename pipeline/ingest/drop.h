#pragma once

#include <filesystem>
#include <functional>
#include <span>

#include "common/comm/communicator.h"
#include "common/progress.h"
#include "dedup/deduplicate.h"
#include "dedup/fingerprints.h"
#include "dedup/ranks/shared_search.h"
#include "dedup/selection.h"
#include "pipeline/ingest/ingest.h"

namespace winnow::pipeline {

class Cache;

// What there is to decide by: the fingerprints of all, and work that the ranks share.
struct Fingerprinted {
  dedup::ColumnSource columns;
  dedup::SharedWork work = {};   // its search may be empty
  const Cache* cache = nullptr;  // that holds them, without images; nullptr: there are no rows
};
// Which samples stay, those of weight above 0. Asked on rank 0. It is asked once of a table without
// rows on every rank, before anything is read: what it cannot do it says then (by throwing), and
// its settings do not depend on the rows, but for what they choose (same_but_for_choice()).
using Decide = std::function<dedup::Selection(const Fingerprinted&)>;

enum class DropPass { kFingerprint, kStore };

// Ingests without what `decide` removes: fingerprints of all inputs first, in a folder OUT.first
// beside `out`, then the decision, then a cache of what is left, in which the rest is in the ledger
// alone, as duplicates (ingest() with left_out). So what is left out is never stored; what is kept
// is read twice. The content depends on sources, options and decisions alone, as that of ingest(),
// and is that of a cache of all that was compacted, but for where its packs end. A run that was
// stopped is gone on with, whichever pass it was in; OUT.first is there until `out` is finished.
//
// Throws as ingest() does; also UsageError with `into`, what `decide` throws, and Error where an
// input that stands for others cannot be read the second time.
IngestResult ingest_dropping(std::span<const IngestSource> sources,
                             const std::filesystem::path& out, const IngestOptions& options,
                             const Decide& decide,
                             const std::function<ProgressSink(DropPass)>& progress,
                             comm::Communicator& comm);

}  // namespace winnow::pipeline
