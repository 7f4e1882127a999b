#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/session.h"
#include "dedup/decisions/deduplicate.h"
#include "dedup/lists/told_groups.h"
#include "dedup/ranks/shared_search.h"
#include "pipeline/store/cache.h"

namespace winnow::app {

// A search with a progress bar, ended with StoppedError by a signal.
dedup::SearchOptions search_options(const Session& session);

// Calls `decide` on rank 0 with such a search, and with steps of comparing pictures, which all
// ranks share (with_shared_work).
void with_shared_work(const Session& session, bool all_links,
                      const std::function<void(const dedup::SharedWork& work)>& decide);
// The same of the search alone.
void with_search(const Session& session, bool all_links,
                 const std::function<void(const dedup::LinkSource& links)>& decide);

// The same columns. Reading them throws StoppedError once a signal came.
dedup::ColumnSource stoppable(dedup::ColumnSource columns, const Session& session);

// Names of the hashes whose codes are stored in a cache. FormatError where there are none.
std::vector<std::string> stored_hashes(const pipeline::Cache& cache);

// Says of a cache of before alpha was compared how many images count as equal to others by pixels
// without their alpha, though their files differ; nothing where there is none.
void say_alpha_ignored(const Session& session, const pipeline::Cache& cache);

// Whether a selection can be written into the cache.
bool can_keep_selections(const pipeline::CachePaths& cache);

// Keeps the selection that `next` replaces as NAME.previous, and says so.
void keep_previous(const Session& session, const pipeline::Cache& cache,
                   const dedup::Selection& next);
// The groups that are kept beside a selection; nothing where none are, or where their file is
// damaged, which it says.
std::optional<dedup::ToldGroups> groups_beside(const Session& session, const pipeline::Cache& cache,
                                               const dedup::Selection& selection);

}  // namespace winnow::app
