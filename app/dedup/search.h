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

// Options for searching pairs, with a progress bar. A signal ends the search with StoppedError.
dedup::SearchOptions search_options(const Session& session);

// Calls `decide` on rank 0 with functions that search pairs and compare pictures. All ranks share
// their work (with_shared_work).
void with_shared_work(const Session& session, bool all_links,
                      const std::function<void(const dedup::SharedWork& work)>& decide);
// Calls `decide` on rank 0 with a function that searches pairs; all ranks share its work.
void with_search(const Session& session, bool all_links,
                 const std::function<void(const dedup::LinkSource& links)>& decide);

// Returns `columns` such that reading them throws StoppedError after a signal.
dedup::ColumnSource stoppable(dedup::ColumnSource columns, const Session& session);

// Names of the hashes whose codes a cache stores. Throws FormatError if it stores none.
std::vector<std::string> stored_hashes(const pipeline::Cache& cache);

// For old caches, whose pixel hashes ignore alpha: tells how many images count as equal by pixels
// although their files differ. Prints nothing if there are none.
void say_alpha_ignored(const Session& session, const pipeline::Cache& cache);

// Whether selections can be written into the cache.
bool can_keep_selections(const pipeline::CachePaths& cache);

// Renames the selection that `next` will replace to NAME.previous, and tells the user.
void keep_previous(const Session& session, const pipeline::Cache& cache,
                   const dedup::Selection& next);
// Reads the duplicate groups that are stored next to a selection; nullopt if there are none. A
// damaged file is reported, and counts as none.
std::optional<dedup::GroupsWithEvidence> groups_beside(const Session& session,
                                                       const pipeline::Cache& cache,
                                                       const dedup::Selection& selection);

}  // namespace winnow::app
