#pragma once

#include <cstdint>
#include <string_view>

#include "common/bytes.h"
#include "common/image.h"

namespace winnow::pipeline {

// The orientation that Pillow's exif_transpose holds a "jpeg", "png" or "webp" (sniff's names) by,
// 1 to 8; 1 where the file says none or is damaged.
//
//   EXIF  JPEG's APP1 segments, one behind the other; the last eXIf chunk of a PNG, else what
//         ImageMagick writes in its place ("Raw profile type exif"); the EXIF chunk of a WebP that
//         its header announces. The value is of any type that is of numbers.
//   XMP   Asked where EXIF says none: the last packet of a JPEG or PNG, the chunk of a WebP.
//
// Throws std::bad_alloc.
int exif_orientation(std::string_view format, BytesView encoded);

// Whether height and width change places.
constexpr bool swaps_sides(int orientation) noexcept { return orientation >= 5; }

// The part of a stored image that becomes `box` of it when it is turned. Pure.
Box before_turn(const Box& box, int orientation, int stored_height_px,
                int stored_width_px) noexcept;

// Whether rows are counted from the other end when they are turned, and columns. Pure.
bool mirrors_rows(int orientation) noexcept;
bool mirrors_columns(int orientation) noexcept;

// Turns an image the way it is to be held, for an orientation of 1 to 8: Pillow's exif_transpose.
// Leaves an image without pixels alone.
void turn(Image& image, int orientation);

}  // namespace winnow::pipeline
