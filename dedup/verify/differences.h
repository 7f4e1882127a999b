#pragma once

#include "dedup/verify/registration.h"

namespace winnow::dedup {

// Differences of two aligned pictures, by blocks of 8 x 8 pixels of the one that is shown at the
// smaller scale. Counts blocks with details in at least one of them; ignores the outermost three
// pixels of both.
//
// The unexplained part of a block is the smallest remainder after a gain of its own, or after one
// tone curve for the whole picture. The best of nine shifts by up to a pixel counts, because no map
// is exact.
struct Differences {
  int blocks = 0;  // with details
  // Unexplained part of the third worst block, relative to that of a block in a copy.
  double outlier = 0;
  double unexplained = 1;  // median unexplained share of the blocks' contrast
  // Share of pixels that are flat or have the commonest gray value, in the picture with fewer of
  // them; and the same within blocks with details that agree.
  double plain = 1;
  double plain_alike = 1;
};
// map  From a to b, in pixels.
// A pure function. Symmetric, except for rounding.
Differences differences_between(const Registrable& a, const Registrable& b, const Affine& map);

// Whether much of the pictures is flat or has one gray value, as in pages, charts and screens.
// Their similarity means little.
bool is_plain(const Differences& differences) noexcept;
// Whether half as much is, as in cheques and stamps with a patterned ground.
bool is_half_plain(const Differences& differences) noexcept;
// Whether there is so much texture, and so good agreement, that a closer look is pointless.
bool is_rich(const Differences& differences) noexcept;

// Whether nothing differs except by scaling, compression, tone and noise: judged by thumbnails, or
// by pictures of kCloserPixels.
bool is_copy_by_thumbnails(const Differences& thumbnails) noexcept;
bool is_copy_by_close(const Differences& close) noexcept;
// is_sure_by_close(): blocks agree so well that a fine look is pointless. is_copy_by_both(): judged
// by kCloserPixels and kFinePixels.
bool is_sure_by_close(const Differences& close) noexcept;
bool is_copy_by_both(const Differences& close, const Differences& fine) noexcept;

// Whether larger pictures may still show a copy: judged by thumbnails, or by pictures of
// kCloserPixels.
bool is_worth_a_closer_look(const Differences& thumbnails) noexcept;
bool is_worth_a_fine_look(const Differences& close) noexcept;

}  // namespace winnow::dedup
