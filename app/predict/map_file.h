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

// Probability maps of several classes for one picture: (classes, rows, columns).
struct ClassMaps {
  std::int64_t classes = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<float> values{};
};

// The maps in numpy's .npy format, as a 3-D array.
Bytes map_as_npy(const ClassMaps& maps);
// The maps as a TIFF of uncompressed 32-bit floats, one page per class. Throws Error beyond 4 GiB.
Bytes map_as_tiff(const ClassMaps& maps);

// Reads maps from a .npy or TIFF file made here. For anything else throws FormatError, which names
// `where`.
ClassMaps read_maps(BytesView file, const std::string& where);

// The map of class `c` as an RGBA overlay for its picture: red, more opaque for higher
// probabilities, transparent for NaN. If a side has more than `most_px` points, each pixel shows
// the maximum of several.
Image map_overlay(const ClassMaps& maps, std::size_t c, int most_px);

// Finds bounding boxes of connected regions (8-neighbourhood) of points with a probability of at
// least `least`, for each class. Ordered by class, then by first point.
//
// labels               class number of each map
// step                 distance of the maps' points, in pixels
// height_px, width_px  size of the picture, at which boxes are cut
std::vector<FoundBox> boxes_of(const ClassMaps& maps, std::span<const std::int32_t> labels,
                               double least, std::int64_t step, std::int64_t height_px,
                               std::int64_t width_px);

}  // namespace winnow::app
