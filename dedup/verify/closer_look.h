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
  // The gray picture of a row with about this many pixels; nullopt if it has fewer than half as
  // many, or cannot be had.
  std::function<std::optional<Image>(std::uint32_t row, int pixels)> gray = {};
  // Its colours, as from colours_of().
  std::function<std::optional<Image>(std::uint32_t row)> colours = {};

  explicit operator bool() const noexcept { return gray != nullptr; }
};
inline constexpr int kCloserPixels = 4 * kComparedPixels;
inline constexpr int kFinePixels = 4 * kCloserPixels;

// The whole image with about this many pixels and its aspect ratio; nullopt if it has fewer than
// half as many.
std::optional<Image> closer_picture(ImageView image, int pixels);

// Range of probabilities by thumbnails in which a pair is in doubt.
inline constexpr double kLeastDoubtful = 0.1;
inline constexpr double kMostDoubtful = 0.95;

struct LookedCloser {
  std::size_t compared = 0;               // pairs compared by larger pictures
  std::vector<VerifiedPair> look_alikes;  // removed pairs, unchanged; sorted by rows
  // Pairs whose larger pictures were not read, because others were more promising.
  RowPairs skipped;
};

// Examines again the pairs in doubt, and those of pictures without rich texture: similarity of
// pages, charts and screens means little (differences.h). Marks which of the remaining pairs are
// shown to be one picture.
//
// In doubt  Probability and map are recomputed from pictures of kCloserPixels with known_model().
//           On edited photos (tests/bench/edits) this settles half of the true pairs, and no false
//           one.
// Plain     Removed, unless nothing differs except by scaling, compression, tone and noise.
//           Compared at kCloserPixels and kFinePixels; with fewer pixels if there are no more, but
//           then with stricter limits.
// Colours   Pairs of half plain pictures with different colours (colours.h) are removed.
// Rich      If blocks agree only moderately, a fine look must show the copy, too. Otherwise pairs
//           within a cluster of look-alikes are removed.
// Layouts   Pairs next to look-alikes that were told apart by their pictures, and those of a
//           cluster (families.h), are removed unless shown.
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
