#pragma once

#include <functional>
#include <span>
#include <vector>

#include "common/stop.h"
#include "dedup/search/search.h"
#include "dedup/verify/landmark_table.h"

namespace winnow::dedup {

// Which of these pairs, near by codes, are shown to be one picture: their whole thumbnails,
// aligned, differ only by scaling, compression, tone and noise. About 2 ms a pair. A pure function
// of each pair. Parallel.
// Errors  StoppedError, and what `pictures` throws.
std::vector<bool> are_shown(std::span<const Edge> pairs, const PictureSource& pictures,
                            const StopRequested& stop = {});

}  // namespace winnow::dedup
