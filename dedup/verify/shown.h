#pragma once

#include <functional>
#include <span>
#include <vector>

#include "common/stop.h"
#include "dedup/search/search.h"
#include "dedup/verify/landmark_table.h"

namespace winnow::dedup {

// For each of these pairs, which are near by hash codes: whether it is shown to be one picture,
// because the aligned thumbnails differ only by scaling, compression, tone and noise. About 2 ms a
// pair. A pure function of each pair. Parallel.
// Errors  StoppedError, and exceptions of `pictures`.
std::vector<bool> are_shown(std::span<const Edge> pairs, const PictureSource& pictures,
                            const StopRequested& stop = {});

}  // namespace winnow::dedup
