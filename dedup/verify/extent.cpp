#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "dedup/verify/extent_internal.h"

namespace winnow::dedup::better {
namespace {

// Whether the area beyond the edge was added; nullopt if unknown.
std::optional<bool> is_added(const Beyond& what) {
  constexpr double kSeam = 1.8;
  constexpr double kLeastSeam = 1.5;  // for each side
  constexpr double kFlat = 0.45;
  constexpr double kSteep = 4;
  constexpr double kLeastSteep = 2.5;
  constexpr double kNoSeam = 1.4;
  if (what.seam >= kSeam && what.least_seam >= kLeastSeam && what.flat >= kFlat) return true;
  constexpr double kLeastFlat = 0.2;
  if (what.seam >= kSteep && what.least_seam >= kLeastSteep && what.flat >= kLeastFlat) return true;
  if (what.seam <= kNoSeam && what.flat < 0.5) return false;
  return std::nullopt;
}

// A picture that was rotated within its frame has filled corners, and the other has corners of its
// own of about that size.
std::optional<Better> by_corners(const Beyond& a, const Beyond& b) {
  constexpr double kLeast = 0.002;
  constexpr double kAlike = 0.15;
  constexpr double kSteeper = 1.5;
  constexpr double kFlatter = 0.2;
  if (std::min(a.share, b.share) < std::max(kLeast, kAlike * std::max(a.share, b.share))) {
    return std::nullopt;
  }
  if (std::max(a.seam, b.seam) >= kSteeper * std::min(a.seam, b.seam)) {
    return Better{a.seam < b.seam, KeptFor::kNothingAdded, true};
  }
  if (std::fabs(a.flat - b.flat) < kFlatter) return std::nullopt;
  return Better{a.flat < b.flat, KeptFor::kNothingAdded, false};
}

// Gradient across an edge, in steps of about 1/300 of the picture from inside to outside.
class AcrossEdge {
 public:
  static constexpr int kReach = 10;

  void add(const AcrossEdge& other) {
    for (std::size_t d = 0; d < steep_.size(); ++d) steep_[d] += other.steep_[d];
    points_ += other.points_;
  }
  // value  Returns the gray value at a number of steps outside.
  template <class Value>
  void add_point(const Value& value) {
    ++points_;
    for (int d = -kReach; d <= kReach; ++d) {
      steep_[static_cast<std::size_t>(d + kReach)] += std::fabs(value(d + 1) - value(d - 1));
    }
  }
  bool tells() const { return points_ >= 12; }
  // How much steeper it is at the edge than next to it.
  double seam() const {
    double most = 0;
    for (int d = -4; d <= 4; ++d) most = std::max(most, at(d));
    return (most + 1) / (std::max(mean(-kReach, -6), mean(6, kReach)) + 1);
  }

 private:
  double at(int d) const { return steep_[static_cast<std::size_t>(d + kReach)] / points_; }
  double mean(int from, int to) const {
    double sum = 0;
    for (int d = from; d <= to; ++d) sum += at(d);
    return sum / (to - from + 1);
  }

  std::array<double, 2 * kReach + 1> steep_{};
  double points_ = 0;
};

// Measures the share and flatness of the area beyond the other picture's edge.
void measure_share(const Plane& plane, const Affine& map, double margin, Beyond& out) {
  const Affine to_other = inverse(map);
  double inside = 0, outside = 0, flat = 0;
  const int step = std::max(1, plane.width / 200);
  for (int y = 0; y < plane.height; y += step) {
    for (int x = 0; x < plane.width; x += step) {
      const double px = (x + 0.5) / plane.width;
      const double py = (y + 0.5) / plane.height;
      const double u = to_other.x_of(px, py);
      const double v = to_other.y_of(px, py);
      const bool is_in = u > -margin && u < 1 + margin && v > -margin && v < 1 + margin;
      ++(is_in ? inside : outside);
      if (is_in || x + 1 >= plane.width || y + 1 >= plane.height) continue;
      const float here = plane.at(x, y);
      flat +=
          std::fabs(here - plane.at(x + 1, y)) < 1.5F && std::fabs(here - plane.at(x, y + 1)) < 1.5F
              ? 1
              : 0;
    }
  }
  out.share = outside / std::max(1.0, inside);
  out.flat = flat / std::max(1.0, outside);
}

// Measures one side of the other picture, given by its ends in shares.
AcrossEdge across(const Plane& plane, const Affine& map, const std::array<double, 4>& side) {
  AcrossEdge out;
  const double unit = std::max(1.0, std::max(plane.width, plane.height) / 300.0);
  const double from_x = map.x_of(side[0], side[1]) * plane.width;
  const double from_y = map.y_of(side[0], side[1]) * plane.height;
  const double along_x = map.x_of(side[2], side[3]) * plane.width - from_x;
  const double along_y = map.y_of(side[2], side[3]) * plane.height - from_y;
  const double length = std::hypot(along_x, along_y);
  if (length < 16) return out;
  double out_x = along_y / length;
  double out_y = -along_x / length;
  const double middle_x = map.x_of(0.5, 0.5) * plane.width;
  const double middle_y = map.y_of(0.5, 0.5) * plane.height;
  if (out_x * (from_x + along_x / 2 - middle_x) + out_y * (from_y + along_y / 2 - middle_y) < 0) {
    out_x = -out_x;
    out_y = -out_y;
  }
  const int count = static_cast<int>(length / unit);
  for (int i = 0; i < count; ++i) {
    const double at = (i + 0.5) / count;
    const double x = from_x + at * along_x - 0.5;
    const double y = from_y + at * along_y - 0.5;
    // Skip places with nothing beyond.
    if (!plane.contains(x + 3.5 * unit * out_x, y + 3.5 * unit * out_y)) continue;
    constexpr int kReach = AcrossEdge::kReach;
    if (!plane.contains(x - kReach * unit * out_x, y - kReach * unit * out_y)) continue;
    out.add_point([&](double d) {
      return sample(plane, static_cast<float>(x + d * unit * out_x),
                    static_cast<float>(y + d * unit * out_y));
    });
  }
  return out;
}

}  // namespace

Beyond beyond(const Plane& plane, const Affine& map, double margin) {
  Beyond out;
  measure_share(plane, map, margin, out);
  AcrossEdge all;
  std::optional<double> least;
  constexpr std::array<std::array<double, 4>, 4> kSides{
      {{0, 0, 1, 0}, {1, 0, 1, 1}, {1, 1, 0, 1}, {0, 1, 0, 0}}};
  for (const std::array<double, 4>& side : kSides) {
    const AcrossEdge edge = across(plane, map, side);
    if (!edge.tells()) continue;
    least = std::min(least.value_or(1e9), edge.seam());
    all.add(edge);
  }
  if (!least) return out;
  out.seam = all.seam();
  out.least_seam = *least;
  return out;
}

std::optional<Better> by_extent(const Beyond& a, const Beyond& b, double least) {
  if (const auto better = by_corners(a, b)) return better;
  const bool has_a = a.share > least;
  const bool has_b = b.share > least;
  const auto added_a = has_a ? is_added(a) : std::optional(false);
  const auto added_b = has_b ? is_added(b) : std::optional(false);
  const double real_a = has_a && added_a == false ? a.share : 0;
  const double real_b = has_b && added_b == false ? b.share : 0;
  if (!added_a || !added_b) return std::nullopt;
  if (std::fabs(real_a - real_b) > std::max(least, 0.1 * std::max(real_a, real_b))) {
    return Better{real_a > real_b, KeptFor::kShowsMore, true};
  }
  if (*added_a != *added_b) return Better{*added_b, KeptFor::kNothingAdded, true};
  return std::nullopt;
}

namespace {

bool is_plain_with_seam(const Beyond& what) {
  return (what.seam >= 1.8 && what.least_seam >= 1.2 && what.flat >= 0.6) ||
         (what.flat >= 0.8 && what.seam > 1.2);
}

// A bar in the background's colour with letters in it.
bool is_plain_with_letters(const Beyond& what) {
  return what.seam < 0.55 && what.flat >= 0.6 && what.flat < 0.98;
}

}  // namespace

std::optional<Better> by_extent_at_last(const Beyond& a, const Beyond& b, double least) {
  const double all_a = a.share > least ? a.share : 0;
  const double all_b = b.share > least ? b.share : 0;
  if (std::fabs(all_a - all_b) <= least) return std::nullopt;
  const Beyond& more = all_a > all_b ? a : b;
  const bool is_frame =
      is_added(more).value_or(is_plain_with_seam(more) || is_plain_with_letters(more));
  return Better{(all_a > all_b) != is_frame,
                is_frame ? KeptFor::kNothingAdded : KeptFor::kShowsMore, false};
}

}  // namespace winnow::dedup::better
