#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/comm/communicator.h"
#include "dedup/verify/verify.h"

namespace winnow::dedup {

// The steps of verify(), of which all ranks take equal shares.
//
// Called by all ranks. Arguments but for `comm` and `search` are those of rank 0; so are results
// Pictures   are read by rank 0, and those that a rank needs for its share are sent there
// Memory     on rank 0 as alone, and 30 MB for what travels. Others: the landmarks, during
//            share_hits()
// search     with a kernel that runs on all ranks; rank 0 alone has `progress`
// Throws     on all ranks what one of them does (comm::on_all)
LandmarkTable share_landmarks(comm::Communicator& comm, std::span<const std::uint32_t> rows,
                              const PictureSource& pictures, const SearchOptions& search);
SupportedHits share_hits(comm::Communicator& comm, const LandmarkTable& landmarks,
                         std::span<const std::uint32_t> some, int radius,
                         const SearchOptions& search);
std::vector<VerifiedPair> share_judging(comm::Communicator& comm, std::span<const Trial> trials,
                                        const PictureSource& pictures, const MatchModel& model,
                                        const SearchOptions& search);

}  // namespace winnow::dedup
