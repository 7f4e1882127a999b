#pragma once

#include <functional>

#include "common/comm/communicator.h"
#include "dedup/decisions/deduplicate.h"
#include "dedup/verify/verify.h"

namespace winnow::dedup {

struct SharedSearchOptions {
  // Whether rank 0 gets every link. Otherwise it gets enough of them for the same connected
  // components.
  bool all_links = false;
  SearchOptions search = {};  // for the part of each rank; `progress` is called on rank 0 only
};

// Functions by which rank 0 has all ranks work for it.
struct SharedWork {
  LinkSource links;
  VerifySteps* steps = nullptr;  // steps of verify() on all ranks; nullptr: there is one rank
};

// Runs `decide` on rank 0 while the other ranks share its work.
//
// Search    Each rank gets the codes and searches its part of the pairs (find_edges_of_part). It
//           returns its links to rank 0.
// Pictures  Compared as in shared_steps.h.
// Ranks     Collective: called by all ranks; returns when `decide` has returned. Other ranks get
//           only codes, rows, numbers and pictures from rank 0, and need no files.
// Errors    An exception of `decide`, or of the shared work on any rank, is thrown on all ranks
//           (comm::on_root). `decide` must not communicate, and must not catch errors of the shared
//           work.
void with_shared_work(comm::Communicator& comm,
                      const std::function<void(const SharedWork& work)>& decide,
                      const SharedSearchOptions& options = {});

// As with_shared_work(), for the search alone: `decide` compares no pictures.
void with_shared_search(comm::Communicator& comm,
                        const std::function<void(const LinkSource& links)>& decide,
                        const SharedSearchOptions& options = {});

}  // namespace winnow::dedup
