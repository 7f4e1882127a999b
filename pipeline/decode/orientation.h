#pragma once

#include <cstdint>
#include <string_view>

#include "common/bytes.h"
#include "common/image.h"

namespace winnow::pipeline {

// The EXIF orientation, 1 to 8, as Pillow's exif_transpose finds it in a "jpeg", "png" or "webp"
// (format as from sniff()). 1 if the file has none or is damaged.
//
// EXIF    The APP1 segments of a JPEG, concatenated; the last eXIf chunk of a PNG, else
//         ImageMagick's "Raw profile type exif"; the EXIF chunk of a WebP, if its header announces
//         one. Any numeric type is accepted.
// XMP     Used if EXIF has no orientation: the last packet of a JPEG or PNG, the chunk of a WebP.
// Errors  std::bad_alloc.
int exif_orientation(std::string_view format, BytesView encoded);

// Whether applying the orientation exchanges width and height.
constexpr bool swaps_sides(int orientation) noexcept { return orientation >= 5; }

// The part of a stored image that becomes `box` when the orientation is applied. Pure.
Box before_turn(const Box& box, int orientation, int stored_height_px,
                int stored_width_px) noexcept;

// Whether applying the orientation reverses the order of rows, or of columns. Pure.
bool mirrors_rows(int orientation) noexcept;
bool mirrors_columns(int orientation) noexcept;

// Applies an EXIF orientation, 1 to 8, to an image, as Pillow's exif_transpose. Does nothing to an
// image without pixels.
void turn(Image& image, int orientation);

}  // namespace winnow::pipeline
