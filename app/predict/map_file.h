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

// Maps of several classes: by class, rows, columns.
struct ClassMaps {
  std::int64_t classes = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<float> values{};
};

// The format of numpy.save() for three dimensions.
Bytes map_as_npy(const ClassMaps& maps);
// A TIFF of uncompressed 32-bit floats, one page per class. Throws Error beyond 4 GiB.
Bytes map_as_tiff(const ClassMaps& maps);

// Reads such a file. Throws FormatError, which names `where`, for anything else.
ClassMaps read_maps(BytesView file, const std::string& where);

// The map of class `c` as an overlay for its picture: red, more opaque for higher probabilities,
// clear for NaN. If a side has more than `most_px` points, each pixel shows the maximum of several.
// Four channels.
Image map_overlay(const ClassMaps& maps, std::size_t c, int most_px);

// Bounding boxes of connected regions (also over corners) of points that reach `least`, for each
// class. Ordered by class, then by first point.
//
// labels     of the classes
// step       of a point, in pixels; height, width: of the picture, at which boxes end
std::vector<FoundBox> boxes_of(const ClassMaps& maps, std::span<const std::int32_t> labels,
                               double least, std::int64_t step, std::int64_t height_px,
                               std::int64_t width_px);

}  // namespace winnow::app
