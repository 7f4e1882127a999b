#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/comm/communicator.h"
#include "dedup/verify/verify.h"

namespace winnow::dedup {

// The expensive steps of verify() (comparing pictures), in equal shares on all ranks. Collective:
// called by all ranks.
//
// In, out   `comm` and `search` are given on all ranks, other arguments on rank 0 only. Only rank 0
//           gets the result.
// Pictures  Rank 0 reads them and sends each rank those that its share needs.
// Memory    Rank 0: as in one process, plus 30 MB for transfers. Other ranks: the landmarks, during
//           share_hits().
// search    Its kernel must run on all ranks. Only rank 0 has `progress`.
// Errors    An exception on one rank is thrown on all (comm::on_all).
LandmarkTable share_landmarks(comm::Communicator& comm, std::span<const std::uint32_t> rows,
                              const PictureSource& pictures, const SearchOptions& search);
SupportedHits share_hits(comm::Communicator& comm, const LandmarkTable& landmarks,
                         std::span<const std::uint32_t> some, int radius,
                         const SearchOptions& search);
std::vector<VerifiedPair> share_judging(comm::Communicator& comm, std::span<const Trial> trials,
                                        const PictureSource& pictures, const MatchModel& model,
                                        const SearchOptions& search);

}  // namespace winnow::dedup
