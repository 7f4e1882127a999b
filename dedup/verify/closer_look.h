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

// Gives larger pictures than thumbnails. For any number of threads.
struct CloserSource {
  // The gray picture of a row in about so many pixels; nothing where it has not even half as many,
  // or there is none.
  std::function<std::optional<Image>(std::uint32_t row, int pixels)> gray = {};
  // Its colours, as colours_of() gives them.
  std::function<std::optional<Image>(std::uint32_t row)> colours = {};

  explicit operator bool() const noexcept { return gray != nullptr; }
};
inline constexpr int kCloserPixels = 4 * kComparedPixels;
inline constexpr int kFinePixels = 4 * kCloserPixels;

// The whole image in so many pixels, of the ratio of its sides; nothing where it has not even half
// as many.
std::optional<Image> closer_picture(ImageView image, int pixels);

// Thumbnails leave such pairs in doubt.
inline constexpr double kLeastDoubtful = 0.1;
inline constexpr double kMostDoubtful = 0.95;

struct LookedCloser {
  std::size_t compared = 0;               // pairs, by larger pictures
  std::vector<VerifiedPair> look_alikes;  // left out, as they came; sorted by rows
  RowPairs passed_over;  // whose larger pictures were not read, as others promised more
};

// Looks once more at pairs that are in doubt, and at those whose pictures are not plainly rich:
// what pages, charts and screens have in common is cheap (differences.h). Of what is left it says
// which are shown to be one picture.
//
// In doubt  their probability and map become what pictures of kCloserPixels say, by known_model().
//           Of edited photos (tests/bench/edits) these settle half of the true pairs, and no false
//           one
// Plain     left out, unless nothing differs but what scaling, compression, tone and noise do to a
//           copy: by kCloserPixels and by kFinePixels; by fewer where there are no more, and then
//           more is asked
// Colours   pairs of half plain pictures whose colours differ (colours.h) are left out
// Rich      where blocks agree only so-so, a fine look must show the copy, too; else the pair is
//           left out in a lump of look-alikes
// Layouts   pairs beside look-alikes that were told from their pictures, and those of a lump
//           (families.h), are left out, unless they are shown
// Families  pairs that many others are like are left out, unless they are shown (families.h), or
//           there are thumbnails alone, by which too few are shown
// Larger pictures are read for 8 pairs of each picture at most, those that thumbnails show to
// differ least; the other pairs go by their thumbnails.
// closer    empty: thumbnails alone
// A pure function of each pair and its pictures. Parallel. Errors: StoppedError.
LookedCloser look_closer(std::vector<VerifiedPair>& pairs, const PictureSource& thumbnails,
                         const CloserSource& closer, const StopRequested& stop = {});

}  // namespace winnow::dedup
