#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "app/predict/found_box.h"
#include "common/bytes.h"
#include "common/image.h"

namespace winnow::app {

// Maps of some classes: by class, rows, columns.
struct ClassMaps {
  std::int64_t classes = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<float> values{};
};

// As numpy.save() writes an array of three dimensions.
Bytes map_as_npy(const ClassMaps& maps);
// A TIFF of 32-bit floats without compression, a page a class. Throws Error beyond 4 GiB.
Bytes map_as_tiff(const ClassMaps& maps);

// The maps of such a file. FormatError naming `where` for anything else.
ClassMaps read_maps(BytesView file, const std::string& where);

// A map of the class `c` to lay over its picture: red, and the more opaque the more probable; clear
// where there is no number. Where a side has more than `most_px` points the most of several is
// shown. Four channels.
Image map_overlay(const ClassMaps& maps, std::size_t c, int most_px);

// The regions of points that reach `least` and touch, also at corners, of each class: in the order
// of the classes and then of their first points.
//
// labels     of the classes
// step       of a point, in pixels; height, width: of the picture, which boxes end with
std::vector<FoundBox> boxes_of(const ClassMaps& maps, std::span<const std::int32_t> labels,
                               double least, std::int64_t step, std::int64_t height_px,
                               std::int64_t width_px);

}  // namespace winnow::app
