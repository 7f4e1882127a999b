#pragma once

#include <cstdint>
#include <string_view>

#include "common/bytes.h"
#include "common/image.h"

namespace winnow::pipeline {

// EXIF's orientation of a "jpeg", "png" or "webp" (sniff's names), 1 to 8; 1 where it says none or
// is damaged. From the first APP1 segment, the eXIf chunk or the EXIF chunk that its header
// announces; what XMP says is not asked.
int exif_orientation(std::string_view format, BytesView encoded) noexcept;

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
