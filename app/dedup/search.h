#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/session.h"
#include "dedup/decisions/deduplicate.h"
#include "dedup/lists/groups_with_evidence.h"
#include "dedup/ranks/shared_search.h"
#include "pipeline/store/cache.h"

namespace winnow::app {

// Search options with a progress bar. A signal ends the search with StoppedError.
dedup::SearchOptions search_options(const Session& session);

// Calls `decide` on rank 0 with a search and with picture comparison that all ranks share
// (with_shared_work).
void with_shared_work(const Session& session, bool all_links,
                      const std::function<void(const dedup::SharedWork& work)>& decide);
// Calls `decide` on rank 0 with a search alone.
void with_search(const Session& session, bool all_links,
                 const std::function<void(const dedup::LinkSource& links)>& decide);

// Returns `columns`, but reading them throws StoppedError after a signal.
dedup::ColumnSource stoppable(dedup::ColumnSource columns, const Session& session);

// Names of the hashes whose codes a cache stores. Throws FormatError if there are none.
std::vector<std::string> stored_hashes(const pipeline::Cache& cache);

// For a cache from before alpha was compared: says how many images count as equal by pixels
// although their files differ. Prints nothing if there are none.
void say_alpha_ignored(const Session& session, const pipeline::Cache& cache);

// Whether a selection can be written into the cache.
bool can_keep_selections(const pipeline::CachePaths& cache);

// Keeps the selection that `next` replaces as NAME.previous, and says so.
void keep_previous(const Session& session, const pipeline::Cache& cache,
                   const dedup::Selection& next);
// The groups that are stored next to a selection; nullopt if there are none. A damaged file is
// reported and counts as none.
std::optional<dedup::GroupsWithEvidence> groups_beside(const Session& session,
                                                       const pipeline::Cache& cache,
                                                       const dedup::Selection& selection);

}  // namespace winnow::app
