#pragma once

#include "dedup/verify/registration.h"

namespace winnow::dedup {

// In what two pictures differ once one is laid upon the other, by blocks of 8 x 8 pixels of the one
// of which less is shown. Counted are blocks with details in one of them; the outermost three
// pixels of both are not looked at.
//
// What a block leaves unexplained is the least that is left of its details by a gain of its own, or
// of its gray values by a tone curve that is the same everywhere; of nine shifts by up to a pixel
// each way, as no map is exact.
struct Differences {
  int blocks = 0;  // with details
  // What the third worst block leaves unexplained, in units of what a block leaves in a copy.
  double outlier = 0;
  double unexplained = 1;  // by what share of their contrast blocks differ, median
  // Share of pixels that are flat or have the commonest gray value, of the picture with fewer; and
  // the same of blocks with details that agree.
  double plain = 1;
  double plain_alike = 1;
};
// map  of a to b, in pixels
// A pure function; the same, but for rounding, from either side.
Differences differences_between(const Registrable& a, const Registrable& b, const Affine& map);

// Whether much of the pictures is flat or has one gray value, as of pages, charts and screens. What
// such pictures have in common is cheap.
bool is_plain(const Differences& differences) noexcept;
// Whether half as much is, as of cheques and stamps, whose ground is a pattern.
bool is_half_plain(const Differences& differences) noexcept;
// Whether so much is texture, and agrees so well, that no closer look would tell more.
bool is_rich(const Differences& differences) noexcept;

// Whether nothing differs but what scaling, compression, tone and noise do to a copy; by thumbnails
// alone, by pictures of kCloserPixels, or by those and others of kFinePixels.
bool is_copy_by_thumbnails(const Differences& thumbnails) noexcept;
bool is_copy_by_close(const Differences& close) noexcept;
// The same, where blocks agree so well that no fine look would tell more.
bool is_sure_by_close(const Differences& close) noexcept;
bool is_copy_by_both(const Differences& close, const Differences& fine) noexcept;

// Whether larger pictures may still show a copy: of thumbnails, and of those of kCloserPixels.
bool is_worth_a_closer_look(const Differences& thumbnails) noexcept;
bool is_worth_a_fine_look(const Differences& close) noexcept;

}  // namespace winnow::dedup
