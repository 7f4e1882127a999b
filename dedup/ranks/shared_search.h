#pragma once

#include <functional>

#include "common/comm/communicator.h"
#include "dedup/deduplicate.h"

namespace winnow::dedup {

struct SharedSearchOptions {
  // Rank 0 is given every link; else only as many as connect what all of them connect, which is
  // what connected components need.
  bool all_links = false;
  SearchOptions search = {};  // of each rank's part; `progress` is for rank 0
};

// Runs `decide` on rank 0, with a search that all ranks have a share in: each gets the codes and
// looks through its part of the space of codes (find_edges_of_part), and its links come back to
// rank 0. Nothing but codes, rows and a threshold is asked of the others, no files.
//
// Called by all ranks; returns when `decide` has, and throws on all where it does (comm::on_root)
// or where a search fails on any. `decide` must not communicate, and is to let the errors of its
// LinkSource through.
void with_shared_search(comm::Communicator& comm,
                        const std::function<void(const LinkSource& links)>& decide,
                        const SharedSearchOptions& options = {});

}  // namespace winnow::dedup
