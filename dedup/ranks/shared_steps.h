#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/comm/communicator.h"
#include "dedup/verify/verify.h"

namespace winnow::dedup {

// The steps of verify(), in equal shares on all ranks. Collective: called by all ranks.
//
// In, out   Arguments other than `comm` and `search` count on rank 0 only; so do results.
// Pictures  Rank 0 reads them and sends each rank those that its share needs.
// Memory    Rank 0: as alone, plus 30 MB for transfers. Others: the landmarks, during share_hits().
// search    Its kernel must run on all ranks. Only rank 0 has `progress`.
// Errors    What one rank throws is thrown on all (comm::on_all).
LandmarkTable share_landmarks(comm::Communicator& comm, std::span<const std::uint32_t> rows,
                              const PictureSource& pictures, const SearchOptions& search);
SupportedHits share_hits(comm::Communicator& comm, const LandmarkTable& landmarks,
                         std::span<const std::uint32_t> some, int radius,
                         const SearchOptions& search);
std::vector<VerifiedPair> share_judging(comm::Communicator& comm, std::span<const Trial> trials,
                                        const PictureSource& pictures, const MatchModel& model,
                                        const SearchOptions& search);

}  // namespace winnow::dedup
