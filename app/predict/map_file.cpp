#include "app/predict/map_file.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "common/error.h"

namespace winnow::app {
namespace {

// One entry of a TIFF's directory.
void put_entry(ByteWriter& out, std::uint16_t tag, std::uint16_t type, std::uint32_t value) {
  out.put<std::uint16_t>(tag);
  out.put<std::uint16_t>(type);
  out.put<std::uint32_t>(1);
  out.put<std::uint32_t>(value);
}

// Finds connected points of a class, and marks them as seen.
class Regions {
 public:
  Regions(std::span<const float> map, std::int64_t rows, std::int64_t columns, double least)
      : map_(map), rows_(rows), columns_(columns), least_(least), seen_(map.size()) {}

  struct Region {
    std::int64_t top, left, bottom, right;  // points, bottom and right included
    float most;
    double sum = 0;
    std::int64_t points = 0;
  };

  bool begins_at(std::int64_t point) const {
    const auto i = static_cast<std::size_t>(point);
    return seen_[i] == 0 && double{map_[i]} >= least_;  // false for NaN
  }

  Region grow(std::int64_t point) {
    const std::int64_t y = point / columns_;
    const std::int64_t x = point % columns_;
    Region region{y, x, y, x, map_[static_cast<std::size_t>(point)]};
    std::vector<std::int64_t> edge{point};
    seen_[static_cast<std::size_t>(point)] = 1;
    while (!edge.empty()) {
      const std::int64_t at = edge.back();
      edge.pop_back();
      add(at, region);
      for (std::int64_t dy = -1; dy <= 1; ++dy) {
        for (std::int64_t dx = -1; dx <= 1; ++dx)
          reach(at / columns_ + dy, at % columns_ + dx, edge);
      }
    }
    return region;
  }

 private:
  void add(std::int64_t at, Region& region) const {
    const float value = map_[static_cast<std::size_t>(at)];
    region.top = std::min(region.top, at / columns_);
    region.bottom = std::max(region.bottom, at / columns_);
    region.left = std::min(region.left, at % columns_);
    region.right = std::max(region.right, at % columns_);
    region.most = std::max(region.most, value);
    region.sum += double{value};
    ++region.points;
  }
  void reach(std::int64_t y, std::int64_t x, std::vector<std::int64_t>& edge) {
    if (y < 0 || x < 0 || y >= rows_ || x >= columns_) return;
    const std::int64_t point = y * columns_ + x;
    if (!begins_at(point)) return;
    seen_[static_cast<std::size_t>(point)] = 1;
    edge.push_back(point);
  }

  std::span<const float> map_;
  std::int64_t rows_;
  std::int64_t columns_;
  double least_;
  std::vector<std::uint8_t> seen_;
};

constexpr std::uint16_t kEntries = 10;
constexpr std::size_t kDirectoryBytes = 2 + kEntries * 12 + 4;

// Reads the sides from a header of map_as_npy().
void read_npy_header(ByteReader& in, ClassMaps& maps) {
  in.get_bytes(8);
  const std::string header = in.get_text(in.get<std::uint16_t>());
  const std::size_t at = header.find("'shape': (");
  long long classes = 0;
  long long rows = 0;
  long long columns = 0;
  if (at == std::string::npos || std::sscanf(header.c_str() + at, "'shape': (%lld, %lld, %lld)",
                                             &classes, &rows, &columns) != 3) {
    throw FormatError(in.where() + " is not an array of three dimensions");
  }
  maps = {classes, rows, columns, {}};
}

ClassMaps read_tiff(BytesView file, const std::string& where) {
  ByteReader head(file, where);
  head.get_bytes(8 + 2 + 8);
  ClassMaps maps;
  maps.columns = head.get<std::uint32_t>();
  head.get_bytes(8);
  maps.rows = head.get<std::uint32_t>();
  const std::size_t points = static_cast<std::size_t>(maps.rows * maps.columns);
  ByteReader in(file, where);
  in.get_bytes(8);
  while (in.remaining() > 0) {
    in.get_bytes(kDirectoryBytes);
    const std::vector<float> plane = in.get_array<float>(points);
    maps.values.insert(maps.values.end(), plane.begin(), plane.end());
    ++maps.classes;
  }
  return maps;
}

}  // namespace

Bytes map_as_npy(const ClassMaps& maps) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                       std::to_string(maps.classes) + ", " + std::to_string(maps.rows) + ", " +
                       std::to_string(maps.columns) + "), }";
  constexpr std::size_t kBefore = 10;
  header.append(63 - (kBefore + header.size()) % 64, ' ');
  header += '\n';
  ByteWriter out;
  out.put_text("\x93NUMPY");
  out.put<std::uint8_t>(1);
  out.put<std::uint8_t>(0);
  out.put<std::uint16_t>(static_cast<std::uint16_t>(header.size()));
  out.put_text(header);
  out.put_array(std::span(maps.values));
  return std::move(out).take();
}

Bytes map_as_tiff(const ClassMaps& maps) {
  constexpr std::uint16_t kShort = 3;
  constexpr std::uint16_t kLong = 4;
  const auto plane = static_cast<std::uint64_t>(maps.rows * maps.columns) * sizeof(float);
  const std::uint64_t page = kDirectoryBytes + plane;
  if (8 + page * static_cast<std::uint64_t>(maps.classes) >
      std::numeric_limits<std::uint32_t>::max()) {
    throw UsageError(
        "maps of more than 4 GiB do not fit into a TIFF; use --map-format npy, or a "
        "larger --map-step");
  }
  ByteWriter out;
  out.put_text("II");
  out.put<std::uint16_t>(42);
  out.put<std::uint32_t>(8);
  for (std::int64_t c = 0; c < maps.classes; ++c) {
    const auto at = static_cast<std::uint32_t>(out.size());
    out.put(kEntries);
    put_entry(out, 256, kLong, static_cast<std::uint32_t>(maps.columns));
    put_entry(out, 257, kLong, static_cast<std::uint32_t>(maps.rows));
    put_entry(out, 258, kShort, 32);  // bits per sample
    put_entry(out, 259, kShort, 1);   // no compression
    put_entry(out, 262, kShort, 1);   // black is 0
    put_entry(out, 273, kLong, at + static_cast<std::uint32_t>(kDirectoryBytes));
    put_entry(out, 277, kShort, 1);  // samples
    put_entry(out, 278, kLong, static_cast<std::uint32_t>(maps.rows));
    put_entry(out, 279, kLong, static_cast<std::uint32_t>(plane));
    put_entry(out, 339, kShort, 3);  // floats
    const bool is_last = c + 1 == maps.classes;
    out.put<std::uint32_t>(is_last ? 0 : at + static_cast<std::uint32_t>(page));
    const auto points = static_cast<std::size_t>(maps.rows * maps.columns);
    out.put_array(std::span(maps.values).subspan(static_cast<std::size_t>(c) * points, points));
  }
  return std::move(out).take();
}

ClassMaps read_maps(BytesView file, const std::string& where) {
  if (as_text(file).starts_with("II")) return read_tiff(file, where);
  ByteReader in(file, where);
  ClassMaps maps;
  read_npy_header(in, maps);
  if (maps.classes < 1 || maps.rows < 1 || maps.columns < 1) {
    throw FormatError(where + " has no points");
  }
  maps.values =
      in.get_array<float>(static_cast<std::size_t>(maps.classes * maps.rows * maps.columns));
  return maps;
}

Image map_overlay(const ClassMaps& maps, std::size_t c, int most_px) {
  const auto cell =
      static_cast<std::int64_t>((std::max(maps.rows, maps.columns) + most_px - 1) / most_px);
  const auto height = static_cast<int>((maps.rows + cell - 1) / cell);
  const auto width = static_cast<int>((maps.columns + cell - 1) / cell);
  Image image(height, width, 4);
  const float* const plane =
      maps.values.data() + c * static_cast<std::size_t>(maps.rows * maps.columns);
  std::vector<float> most(static_cast<std::size_t>(height) * static_cast<std::size_t>(width));
  for (std::int64_t y = 0; y < maps.rows; ++y) {
    for (std::int64_t x = 0; x < maps.columns; ++x) {
      float& of_cell = most[static_cast<std::size_t>(y / cell * width + x / cell)];
      const float value = plane[y * maps.columns + x];
      if (value > of_cell) of_cell = value;  // false for NaN
    }
  }
  constexpr float kOpaque = 200;  // below 255, so that the picture stays visible
  for (std::size_t i = 0; i < most.size(); ++i) {
    // squared below: small values would veil the picture
    const float shown = std::clamp(most[i], 0.0F, 1.0F);
    image.pixels[4 * i] = 230;
    image.pixels[4 * i + 1] = 20;
    image.pixels[4 * i + 3] = static_cast<std::uint8_t>(std::lround(kOpaque * shown * shown));
  }
  return image;
}

std::vector<FoundBox> boxes_of(const ClassMaps& maps, std::span<const std::int32_t> labels,
                               double least, std::int64_t step, std::int64_t height_px,
                               std::int64_t width_px) {
  const auto points = static_cast<std::size_t>(maps.rows * maps.columns);
  std::vector<FoundBox> boxes;
  for (std::size_t c = 0; c < labels.size(); ++c) {
    Regions regions(std::span(maps.values).subspan(c * points, points), maps.rows, maps.columns,
                    least);
    for (std::int64_t point = 0; point < maps.rows * maps.columns; ++point) {
      if (!regions.begins_at(point)) continue;
      const Regions::Region region = regions.grow(point);
      const std::int64_t bottom = std::min(height_px, (region.bottom + 1) * step);
      const std::int64_t right = std::min(width_px, (region.right + 1) * step);
      boxes.push_back(
          {.label = labels[c],
           .top = region.top * step,
           .left = region.left * step,
           .height_px = bottom - region.top * step,
           .width_px = right - region.left * step,
           .most = region.most,
           .mean = static_cast<float>(region.sum / static_cast<double>(region.points))});
    }
  }
  return boxes;
}

}  // namespace winnow::app
