#pragma once

#include <functional>

#include "common/comm/communicator.h"
#include "dedup/deduplicate.h"
#include "dedup/verify/verify.h"

namespace winnow::dedup {

struct SharedSearchOptions {
  // Rank 0 is given every link; else only as many as connect what all of them connect, which is
  // what connected components need.
  bool all_links = false;
  SearchOptions search = {};  // of each rank's part; `progress` is for rank 0
};

// What rank 0 need not do alone.
struct SharedWork {
  LinkSource links;
  VerifySteps* steps = nullptr;  // nullptr: there is one rank
};

// Runs `decide` on rank 0, with work that all ranks have a share in. In a search each gets the
// codes and looks through its part of the space of codes (find_edges_of_part), and its links come
// back to rank 0; pictures are compared as shared_steps.h says. Nothing but codes, rows, numbers
// and pictures is asked of the others, no files.
//
// Called by all ranks; returns when `decide` has, and throws on all where it does (comm::on_root)
// or where work fails on any. `decide` must not communicate, and is to let the errors of what it
// is given through.
void with_shared_work(comm::Communicator& comm,
                      const std::function<void(const SharedWork& work)>& decide,
                      const SharedSearchOptions& options = {});

// The same of the search alone.
void with_shared_search(comm::Communicator& comm,
                        const std::function<void(const LinkSource& links)>& decide,
                        const SharedSearchOptions& options = {});

}  // namespace winnow::dedup
