#pragma once

#include <functional>
#include <span>
#include <vector>

#include "common/stop.h"
#include "dedup/search/search.h"
#include "dedup/verify/landmark_table.h"

namespace winnow::dedup {

// Which pairs, near by codes, are shown to be one picture: nothing but what scaling, compression,
// tone and noise do to a copy differs between their thumbnails, laid whole upon whole. An answer
// for each pair, in some 2 ms. A pure function of each. Parallel. Errors: StoppedError, and what
// `pictures` throws.
std::vector<bool> are_shown(std::span<const Edge> pairs, const PictureSource& pictures,
                            const StopRequested& stop = {});

}  // namespace winnow::dedup
