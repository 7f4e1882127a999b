#include "dedup/verify/transformation.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace winnow::dedup {
namespace {

constexpr double kWholeSide = 0.98;

struct Point {
  double x = 0;
  double y = 0;
};

// The part of a convex outline where `depth`, linear in the position, is not negative.
template <typename Depth>
std::vector<Point> clipped(const std::vector<Point>& outline, const Depth& depth) {
  std::vector<Point> inside;
  for (std::size_t i = 0; i < outline.size(); ++i) {
    const Point& a = outline[i];
    const Point& b = outline[(i + 1) % outline.size()];
    const double of_a = depth(a);
    const double of_b = depth(b);
    if (of_a >= 0) inside.push_back(a);
    if ((of_a < 0) == (of_b < 0)) continue;
    const double at = of_a / (of_a - of_b);
    inside.push_back({a.x + at * (b.x - a.x), a.y + at * (b.y - a.y)});
  }
  return inside;
}

// The bounding box of the part of one picture that lies in the other.
SideShares shares_within(const Affine& map) {
  std::vector<Point> outline;
  for (const Point corner : {Point{0, 0}, Point{1, 0}, Point{1, 1}, Point{0, 1}}) {
    outline.push_back({map.x_of(corner.x, corner.y), map.y_of(corner.x, corner.y)});
  }
  outline = clipped(outline, [](const Point& p) { return p.x; });
  outline = clipped(outline, [](const Point& p) { return 1 - p.x; });
  outline = clipped(outline, [](const Point& p) { return p.y; });
  outline = clipped(outline, [](const Point& p) { return 1 - p.y; });
  if (outline.empty()) return {0, 0};
  const auto [left, right] = std::ranges::minmax(outline, {}, &Point::x);
  const auto [top, bottom] = std::ranges::minmax(outline, {}, &Point::y);
  return {right.x - left.x, bottom.y - top.y};
}

long percent(double share) { return std::lround(100 * share); }

bool is_whole(const SideShares& shares) {
  return shares.width >= kWholeSide && shares.height >= kWholeSide;
}

// "62 × 70 %".
std::string percent_of(const SideShares& shares) {
  return std::to_string(percent(shares.width)) + " × " + std::to_string(percent(shares.height)) +
         " %";
}

}  // namespace

Transformation transformation_of(const Affine& map, PictureSides copy, PictureSides kept) {
  const Affine edit = inverse(map);  // from the kept picture to its copy
  Transformation out{.shown = shares_within(map), .taken = shares_within(edit)};
  out.is_mirrored = map.determinant() < 0;
  // In pixels, where a rotation is a rotation.
  const double xx = edit.xx * copy.width / kept.width * (out.is_mirrored ? -1 : 1);
  const double yx = edit.yx * copy.height / kept.width * (out.is_mirrored ? -1 : 1);
  const double xy = edit.xy * copy.width / kept.height;
  const double yy = edit.yy * copy.height / kept.height;
  out.degrees = std::atan2(yx - xy, xx + yy) * 180 / std::numbers::pi;
  if (out.degrees <= -180) out.degrees = 180;
  return out;
}

std::string words_of(const Transformation& what) {
  std::string text;
  const auto add = [&](const std::string& words) { text += (text.empty() ? "" : ", ") + words; };
  if (what.is_mirrored) add("mirrored");
  const long degrees = std::lround(what.degrees);
  if (degrees != 0) add("turned " + std::to_string(degrees == -180 ? 180 : degrees) + "°");
  if (!is_whole(what.shown)) add("crop to " + percent_of(what.shown));
  if (!is_whole(what.taken)) add("more around (" + percent_of(what.taken) + ")");
  return text.empty() ? "whole" : text;
}

}  // namespace winnow::dedup
