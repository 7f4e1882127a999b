#pragma once

#include "dedup/verify/registration.h"

namespace winnow::dedup {

// Differences of two aligned pictures, by blocks of 8 x 8 pixels of the one that is shown at the
// smaller scale. Counts blocks with details in at least one picture; ignores the outermost three
// pixels of both.
//
// The unexplained part of a block is what remains of its difference after adjusting the block's
// contrast, or the tones of the whole picture by one curve, whichever leaves less. The best of nine
// shifts by up to a pixel counts, because no map is exact.
struct Differences {
  int blocks = 0;  // with details
  // Unexplained part of the third worst block, divided by that of a typical block of a copy.
  double outlier = 0;
  double unexplained = 1;  // median share of a block's contrast that is unexplained, 0 to 1
  // Share of pixels that are flat or have the commonest gray value, in the picture with fewer of
  // them. plain_alike: the same share within blocks whose details agree.
  double plain = 1;
  double plain_alike = 1;
};
// Compares two pictures after alignment by `map`, from a to b in pixels. A pure function.
// Symmetric, except for rounding.
Differences differences_between(const Registrable& a, const Registrable& b, const Affine& map);

// Whether the pictures are plain: mostly flat or of one gray value, as pages, charts and screens
// are. Similarity of such pictures means little.
bool is_plain(const Differences& differences) noexcept;
// Whether the pictures are half plain: half as much as is_plain() demands is flat or of one gray
// value, as in cheques and stamps with a patterned ground.
bool is_half_plain(const Differences& differences) noexcept;
// Whether there is so much texture, and so good agreement, that larger pictures need not be
// compared.
bool is_rich(const Differences& differences) noexcept;

// Whether two pictures differ only by scaling, compression, tone and noise, so that one is a copy:
// judged by the differences of thumbnails, or of pictures of kCloserPixels.
bool is_copy_by_thumbnails(const Differences& thumbnails) noexcept;
bool is_copy_by_close(const Differences& close) noexcept;
// Further rules on differences at kCloserPixels (`close`) and kFinePixels (`fine`).
// is_sure_by_close  Blocks agree so well that a comparison at kFinePixels is pointless.
// is_copy_by_both   Both comparisons together show a copy.
bool is_sure_by_close(const Differences& close) noexcept;
bool is_copy_by_both(const Differences& close, const Differences& fine) noexcept;

// Whether comparing larger pictures may still show a copy, by differences of thumbnails or of
// pictures of kCloserPixels.
bool is_worth_a_closer_look(const Differences& thumbnails) noexcept;
bool is_worth_a_fine_look(const Differences& close) noexcept;

}  // namespace winnow::dedup
