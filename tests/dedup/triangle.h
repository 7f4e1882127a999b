#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/image.h"
#include "dedup/hash/thumbnail.h"

namespace winnow::dedup {

// One axis of the triangle filter: the weight of each input, for each output.
inline std::vector<std::vector<double>> triangle(int from, int to) {
  const double scale = static_cast<double>(from) / to;
  const double support = std::max(scale, 1.0);
  std::vector<std::vector<double>> weights;
  for (int i = 0; i < to; ++i) {
    std::vector<double>& row = weights.emplace_back(from);
    double sum = 0;
    for (int x = 0; x < from; ++x) {
      row[static_cast<std::size_t>(x)] =
          std::max(0.0, 1.0 - std::abs((x + 0.5) - (i + 0.5) * scale) / support);
      sum += row[static_cast<std::size_t>(x)];
    }
    for (double& weight : row) weight /= sum;
  }
  return weights;
}

// The thumbnail in float64, without rounding.
inline std::vector<double> exact_thumbnail(const Image& image, ThumbnailSize size) {
  const auto across = triangle(image.width_px, size.width_px);
  const auto down = triangle(image.height_px, size.height_px);
  std::vector<double> out;
  for (const auto& of_rows : down) {
    for (const auto& of_columns : across) {
      double sum = 0;
      for (std::size_t y = 0; y < of_rows.size(); ++y) {
        if (of_rows[y] == 0) continue;
        const std::uint8_t* row = image.view().row(static_cast<int>(y));
        for (std::size_t x = 0; x < of_columns.size(); ++x) {
          sum += of_rows[y] * of_columns[x] * row[x];
        }
      }
      out.push_back(sum);
    }
  }
  return out;
}

}  // namespace winnow::dedup
