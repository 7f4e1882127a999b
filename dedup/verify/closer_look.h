#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "common/image.h"
#include "common/stop.h"
#include "dedup/verify/judge.h"
#include "dedup/verify/through_others.h"

namespace winnow::dedup {

// Supplies larger pictures than thumbnails. Thread-safe.
struct CloserSource {
  // Returns the gray picture of a row with about this many pixels; nullopt if the image has fewer
  // than half as many, or cannot be read.
  std::function<std::optional<Image>(std::uint32_t row, int pixels)> gray = {};
  // Returns the colours of a row's picture, as colours_of() does.
  std::function<std::optional<Image>(std::uint32_t row)> colours = {};

  explicit operator bool() const noexcept { return gray != nullptr; }
};
inline constexpr int kCloserPixels = 4 * kComparedPixels;
inline constexpr int kFinePixels = 4 * kCloserPixels;

// Reduces an image to about this many pixels, with its aspect ratio; nullopt if it has fewer than
// half as many.
std::optional<Image> closer_picture(ImageView image, int pixels);

// A pair is in doubt if its probability by thumbnails is between these limits.
inline constexpr double kLeastDoubtful = 0.1;
inline constexpr double kMostDoubtful = 0.95;

struct LookedCloser {
  std::size_t compared = 0;               // number of pairs compared by larger pictures
  std::vector<VerifiedPair> look_alikes;  // removed pairs, as they were; sorted by rows
  // Pairs whose larger pictures were not read, because those of other pairs were more promising.
  RowPairs skipped;
};

// Examines verified pairs again where thumbnails prove little: pairs in doubt, and pictures without
// rich texture, such as pages, charts and screens (differences.h). Removes pairs that are not
// confirmed. Sets VerifiedPair::is_shown for those that are shown to be one picture.
//
// In doubt  Probability and map are recomputed from pictures of kCloserPixels with known_model().
//           On edited photos (tests/bench/edits) this settles half of the true pairs, and no false
//           one.
// Plain     Pairs of plain pictures are removed, unless nothing differs except by scaling,
//           compression, tone and noise. Compared at kCloserPixels and kFinePixels. If there are
//           fewer pixels, limits are stricter.
// Colours   Pairs of half plain pictures with different colours (colours.h) are removed.
// Rich      If blocks of rich pictures agree only moderately, a comparison at kFinePixels must show
//           the copy, too. Otherwise pairs within a cluster of look-alikes are removed.
// Layouts   A picture of which several pairs were removed shares a layout with many. Its other
//           pairs are then removed, too, unless shown; so are pairs in a cluster of look-alikes
//           (families.h).
// Families  Pairs that resemble many others are removed unless shown (families.h). Not with
//           thumbnails alone, which show too few.
// Limit     Larger pictures are read for at most 8 pairs of each picture, those whose thumbnails
//           differ least. Other pairs are judged by thumbnails.
// closer    Empty: thumbnails only.
// Errors    StoppedError.
// A pure function of each pair and its pictures. Parallel.
LookedCloser look_closer(std::vector<VerifiedPair>& pairs, const PictureSource& thumbnails,
                         const CloserSource& closer, const StopRequested& stop = {});

}  // namespace winnow::dedup
