#pragma once

#include "common/image.h"
#include "dedup/verify/affine.h"
#include "dedup/verify/plane.h"
#include "dedup/verify/registration.h"

namespace winnow::dedup {

// A gray picture prepared for comparison, without its frame (content_of).
struct Compared {
  explicit Compared(const Image& gray)
      : box(content_of(gray.view())),
        width_px(gray.width_px),
        height_px(gray.height_px),
        picture(plane_of(part_of(gray.view(), box))) {}

  // Maps a point of the whole picture, in shares of its sides, to pixels of the plane.
  Affine from_shares() const {
    const double across = static_cast<double>(picture.picture().width) / box.width_px;
    const double down = static_cast<double>(picture.picture().height) / box.height_px;
    return {.xx = across * width_px,
            .x0 = -across * box.left - 0.5,
            .yy = down * height_px,
            .y0 = -down * box.top - 0.5};
  }
  bool is_cut() const { return box.width_px < width_px || box.height_px < height_px; }
  Place middle() const {
    return {.x = static_cast<float>(picture.picture().width - 1) / 2,
            .y = static_cast<float>(picture.picture().height - 1) / 2};
  }

  Box box;
  int width_px;
  int height_px;
  Registrable picture;
};

// Convert a map between the planes of two pictures to one between shares of their sides, and back.
inline Affine in_shares(const Affine& map, const Compared& a, const Compared& b) {
  return after(inverse(b.from_shares()), after(map, a.from_shares()));
}
inline Affine in_pixels(const Affine& map, const Compared& a, const Compared& b) {
  return after(b.from_shares(), after(map, inverse(a.from_shares())));
}

}  // namespace winnow::dedup
