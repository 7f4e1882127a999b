#include "dedup/verify/collages.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "dedup/cluster/components.h"
#include "dedup/verify/plane.h"
#include "dedup/verify/transformation.h"

namespace winnow::dedup {
namespace {

constexpr double kNearlyAll = 0.85;  // share of a picture's area
constexpr double kMostOfCollage = 0.75;

struct Spot {
  double x = 0;
  double y = 0;
};
using Corners = std::array<Spot, 4>;  // in shares of a picture's sides, in order around it

Corners corners_within(const Affine& map) noexcept {
  Corners corners{{{0, 0}, {1, 0}, {1, 1}, {0, 1}}};
  for (Spot& corner : corners) {
    corner = {map.x_of(corner.x, corner.y), map.y_of(corner.x, corner.y)};
  }
  return corners;
}

struct Extent {
  double left = 1, right = 0, top = 1, bottom = 0;

  explicit Extent(const Corners& corners) {
    for (const Spot& corner : corners) {
      left = std::min(left, corner.x);
      right = std::max(right, corner.x);
      top = std::min(top, corner.y);
      bottom = std::max(bottom, corner.y);
    }
  }
  double area() const noexcept { return (right - left) * (bottom - top); }
  double shared_with(const Extent& other) const noexcept {
    return std::max(0.0, std::min(right, other.right) - std::max(left, other.left)) *
           std::max(0.0, std::min(bottom, other.bottom) - std::max(top, other.top));
  }
};

// A picture that lies completely in another, and covers a part of it.
struct PlacedPicture {
  std::uint32_t row = 0;
  Corners corners{};
};

bool are_apart(const PlacedPicture& a, const PlacedPicture& b) {
  constexpr double kMostShared = 0.1;
  const Extent of_a(a.corners);
  const Extent of_b(b.corners);
  return of_a.shared_with(of_b) < kMostShared * std::min(of_a.area(), of_b.area());
}

Transformation transformation(const VerifiedPair& pair) {
  return transformation_of(pair.map, {}, {});
}

bool are_nearly_all(const Transformation& what) {
  return what.shown.area() >= kNearlyAll && what.taken.area() >= kNearlyAll;
}

// One picture of a pair as a part of the other, if it is.
std::optional<PlacedPicture> part_of(std::uint32_t row, const SideShares& taken,
                                     const SideShares& shown, const Affine& map) {
  if (taken.area() < kNearlyAll || shown.area() > kMostOfCollage) return std::nullopt;
  return PlacedPicture{row, corners_within(map)};
}

std::map<std::uint32_t, std::vector<PlacedPicture>> parts_by_row(
    std::span<const VerifiedPair> pairs) {
  std::map<std::uint32_t, std::vector<PlacedPicture>> parts;
  for (const VerifiedPair& pair : pairs) {
    if (is_flat(pair.map)) continue;
    const Transformation what = transformation(pair);
    if (const auto part = part_of(pair.row_a, what.taken, what.shown, pair.map)) {
      parts[pair.row_b].push_back(*part);
    }
    if (const auto part = part_of(pair.row_b, what.shown, what.taken, inverse(pair.map))) {
      parts[pair.row_a].push_back(*part);
    }
  }
  return parts;
}

// How much more a picture changes across a line than across parallel lines next to it; 1: no seam.
double seam_along(const Plane& plane, const Spot& from, const Spot& to) {
  constexpr int kReach = 7;
  constexpr int kNear = 2;  // uncertainty of the map, in pixels
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  if (length < 2 * kReach) return 1;
  const Spot along{(to.x - from.x) / length, (to.y - from.y) / length};
  const Spot across{-along.y, along.x};
  std::array<double, 2 * kReach + 1> change{};
  for (int offset = -kReach; offset <= kReach; ++offset) {
    int count = 0;
    double sum = 0;
    for (double at = 0.1 * length; at < 0.9 * length; ++at) {
      const auto value = [&](double away) {
        return sample(plane, static_cast<float>(from.x + at * along.x + away * across.x),
                      static_cast<float>(from.y + at * along.y + away * across.y));
      };
      sum += std::abs(value(offset + 1) - value(offset - 1));
      ++count;
    }
    change[static_cast<std::size_t>(offset + kReach)] = sum / count;
  }
  double highest = 0;
  std::vector<double> beside;
  for (int offset = -kReach; offset <= kReach; ++offset) {
    const double here = change[static_cast<std::size_t>(offset + kReach)];
    if (std::abs(offset) <= kNear) highest = std::max(highest, here);
    if (std::abs(offset) > kNear + 1) beside.push_back(here);
  }
  std::ranges::sort(beside);
  constexpr double kNoise = 1;
  return (highest + kNoise) / (beside[beside.size() / 2] + kNoise);
}

// Whether there is a seam along each side of a part that is not a side of the whole.
bool has_seams(const Plane& plane, const PlacedPicture& part) {
  constexpr double kBorder = 0.04;
  constexpr double kSeam = 1.6;
  int inside = 0;
  for (std::size_t i = 0; i < part.corners.size(); ++i) {
    const Spot& a = part.corners[i];
    const Spot& b = part.corners[(i + 1) % part.corners.size()];
    const Spot middle{(a.x + b.x) / 2, (a.y + b.y) / 2};
    const bool is_border = std::min({middle.x, 1 - middle.x, middle.y, 1 - middle.y}) < kBorder;
    if (is_border) continue;
    ++inside;
    const auto in_pixels = [&](const Spot& point) {
      return Spot{std::clamp(point.x, 0.0, 1.0) * plane.width - 0.5,
                  std::clamp(point.y, 0.0, 1.0) * plane.height - 0.5};
    };
    if (seam_along(plane, in_pixels(a), in_pixels(b)) < kSeam) return false;
  }
  return inside > 0;
}

// Rows whose pictures show each other nearly completely get one number.
std::vector<std::uint32_t> pictures_of_rows(std::span<const VerifiedPair> pairs) {
  std::uint32_t rows = 0;
  for (const VerifiedPair& pair : pairs) rows = std::max(rows, pair.row_b + 1);
  UnionFind whole(rows);
  for (const VerifiedPair& pair : pairs) {
    if (is_flat(pair.map) || !are_nearly_all(transformation(pair))) continue;
    whole.unite(Edge{pair.row_a, pair.row_b, 0});
  }
  return std::move(whole).components().of_row;
}

bool has_two_apart(std::span<const PlacedPicture> parts,
                   std::span<const std::uint32_t> picture_of) {
  for (const PlacedPicture& a : parts) {
    for (const PlacedPicture& b : parts) {
      if (picture_of[a.row] != picture_of[b.row] && are_apart(a, b)) return true;
    }
  }
  return false;
}

}  // namespace

std::vector<std::uint32_t> find_collages(std::span<const VerifiedPair> pairs,
                                         const std::function<Image(std::uint32_t)>& picture) {
  const std::vector<std::uint32_t> picture_of = pictures_of_rows(pairs);
  std::vector<std::uint32_t> collages;
  for (auto& [row, parts] : parts_by_row(pairs)) {
    if (!has_two_apart(parts, picture_of)) continue;
    const Plane plane = plane_of(picture(row).view());
    std::erase_if(parts, [&](const PlacedPicture& part) { return !has_seams(plane, part); });
    if (has_two_apart(parts, picture_of)) collages.push_back(row);
  }
  return collages;
}

bool shows_part_of_collage(const VerifiedPair& pair, std::span<const std::uint32_t> collages) {
  const bool is_there = std::ranges::binary_search(collages, pair.row_a) ||
                        std::ranges::binary_search(collages, pair.row_b);
  if (!is_there || is_flat(pair.map)) return false;
  return !are_nearly_all(transformation(pair));
}

}  // namespace winnow::dedup
