#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "common/image.h"
#include "common/stop.h"
#include "dedup/verify/judge.h"

namespace winnow::dedup {

// Gives the gray picture of a row in about kCloserPixels; nothing where there is none that shows
// more than its thumbnail. For any number of threads.
using CloserSource = std::function<std::optional<Image>(std::uint32_t row)>;
inline constexpr int kCloserPixels = 4 * kComparedPixels;

// The whole image in that size, of the ratio of its sides; nothing where it has not even half as
// many pixels.
std::optional<Image> closer_picture(ImageView image);

// Thumbnails leave such pairs in doubt.
inline constexpr double kLeastDoubtful = 0.1;
inline constexpr double kMostDoubtful = 0.95;

// Compares pairs that are in doubt by larger pictures, where both have one: their probability and
// map become what these say, by known_model(), from the map that they have. Of edited photos
// (tests/bench/edits) the larger pictures settle half of the true ones, and no false one.
//
// Returns  how many pairs were compared
// A pure function of each pair and its pictures. Parallel. Errors: StoppedError.
std::size_t look_closer(std::span<VerifiedPair> pairs, const CloserSource& pictures,
                        const StopRequested& stop = {});

}  // namespace winnow::dedup
