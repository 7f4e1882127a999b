#pragma once

#include <functional>

#include "common/comm/communicator.h"
#include "dedup/decisions/deduplicate.h"
#include "dedup/verify/verify.h"

namespace winnow::dedup {

struct SharedSearchOptions {
  // Rank 0 gets every link. Otherwise only enough links to connect what all of them connect, which
  // suffices for connected components.
  bool all_links = false;
  SearchOptions search = {};  // for each rank's part; `progress` is used on rank 0
};

// Work that rank 0 shares with other ranks.
struct SharedWork {
  LinkSource links;
  VerifySteps* steps = nullptr;  // nullptr: there is one rank
};

// Runs `decide` on rank 0, with work that all ranks share.
//
// Search    Each rank gets the codes and searches its part of the code space (find_edges_of_part).
//           Its links return to rank 0.
// Pictures  Compared as in shared_steps.h.
// Ranks     Collective: called by all; returns when `decide` has. Other ranks get only codes, rows,
//           numbers and pictures, and need no files.
// Errors    If `decide` throws, or work fails on any rank, it throws on all ranks (comm::on_root).
//           `decide` must not communicate, and must not catch the errors of the work it was given.
void with_shared_work(comm::Communicator& comm,
                      const std::function<void(const SharedWork& work)>& decide,
                      const SharedSearchOptions& options = {});

// As with_shared_work(), for the search alone: `decide` compares no pictures.
void with_shared_search(comm::Communicator& comm,
                        const std::function<void(const LinkSource& links)>& decide,
                        const SharedSearchOptions& options = {});

}  // namespace winnow::dedup
