#include "dedup/verify/better_picture.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "dedup/verify/detail_internal.h"
#include "dedup/verify/extent_internal.h"
#include "dedup/verify/laid_internal.h"
#include "dedup/verify/plane.h"
#include "dedup/verify/rounding_internal.h"

namespace winnow::dedup {
namespace {

using namespace better;

// What both show, beside each other, of one scale.
class SameScale {
 public:
  SameScale(const Plane& a, const Plane& b, const Affine& whole)
      : a_(a),
        b_(b),
        compressed_a_(a),
        compressed_b_(b),
        upon_a_(moved_upon(a, b, whole)),
        upon_b_(moved_upon(b, a, inverse(whole))) {}

  std::optional<Better> made_of() {
    const Plane toned_a = Tones(upon_a_, a_).of(upon_a_);  // b in the tones of a
    const Plane toned_b = Tones(upon_b_, b_).of(upon_b_);
    const double steps_of_a = shows_steps_of(compressed_a_, toned_a);
    const double steps_of_b = shows_steps_of(compressed_b_, toned_b);
    const auto of_a = left_by_rounding(compressed_a_, toned_a);  // a made of b
    const auto of_b = left_by_rounding(compressed_b_, toned_b);
    constexpr double kShows = 0.22;  // more
    constexpr double kSameSteps = -0.5;
    // Compressed by the same steps, it stays what it is.
    if (of_a && of_b && std::max(*of_a, *of_b) < kSameSteps) return std::nullopt;
    shows_more_of_a_ = steps_of_a - steps_of_b;
    if (std::fabs(steps_of_a - steps_of_b) > kShows) {
      return Better{steps_of_a > steps_of_b, KeptFor::kLessCompressed, true};
    }
    return by_rounding(of_a, of_b);
  }

  // The same as made_of(), by less.
  std::optional<Better> shows_steps() const {
    constexpr double kShows = 0.1;
    if (std::fabs(shows_more_of_a_) < kShows) return std::nullopt;
    return Better{shows_more_of_a_ > 0, KeptFor::kLessCompressed, false};
  }

  // What was laid upon one has an outline there, of which the other has nothing.
  std::optional<Better> has_no_outlines() const {
    constexpr float kLeast = 20;
    constexpr double kSteeper = 1.25;
    const Plane toned = Tones(upon_a_, a_).of(upon_a_);
    Plane difference = difference_where_seen(a_, toned);
    // Where one has lost tones, they lead but one way.
    const Tones back(a_, upon_a_);
    for (std::size_t i = 0; i < difference.values.size(); ++i) {
      if (difference.values[i] == kNothing) continue;
      const float other = upon_a_.values[i] - back(a_.values[i]);
      if (std::fabs(other) < std::fabs(difference.values[i])) difference.values[i] = other;
    }
    const float differs = std::max(kLeast, 4 * usual_off(different_blocks(a_, difference)));
    constexpr double kLeastOutline = 8;  // gray values
    double of_a = 0;
    double of_b = 0;
    double count = 0;
    const auto look = [&](int x, int y, int to_x, int to_y) {
      const float here = difference.at(x, y);
      const float there = difference.at(to_x, to_y);
      if (here == kNothing || there == kNothing) return;
      if ((std::fabs(here) > differs) == (std::fabs(there) > differs)) return;
      ++count;
      of_a += std::fabs(a_.at(x, y) - a_.at(to_x, to_y));
      of_b += std::fabs(toned.at(x, y) - toned.at(to_x, to_y));
    };
    for (int y = 0; y + 1 < a_.height; ++y) {
      for (int x = 0; x + 1 < a_.width; ++x) {
        look(x, y, x + 1, y);
        look(x, y, x, y + 1);
      }
    }
    constexpr double kFewest = 0.002;  // of all pixels
    if (count < kFewest * static_cast<double>(a_.values.size())) return std::nullopt;
    if (std::fabs(of_a - of_b) < kLeastOutline * count) return std::nullopt;
    if (std::max(of_a, of_b) < kSteeper * std::min(of_a, of_b)) return std::nullopt;
    return Better{of_a < of_b, KeptFor::kNothingAdded, false};
  }

  // Of two the one whose gray values are spread more.
  std::optional<Better> has_more_levels() const {
    constexpr double kMore = 0.6;
    const double of_a = entropy(a_, upon_a_);
    const double of_b = entropy(b_, upon_b_);
    if (std::fabs(of_a - of_b) < kMore) return std::nullopt;
    return Better{of_a > of_b, KeptFor::kDetail, false};
  }

  std::optional<Better> filtered() const {
    const auto of_a = left_by_rounding(compressed_a_, filtered_like(a_, upon_a_));
    const auto of_b = left_by_rounding(compressed_b_, filtered_like(b_, upon_b_));
    auto better = by_rounding(of_a, of_b);
    if (better) better->why = KeptFor::kDetail;
    return better;
  }

  std::optional<Better> has_more_tones() const {
    const double of_a = lost_at_ends(a_, upon_a_);
    const double of_b = lost_at_ends(b_, upon_b_);
    constexpr double kLost = 0.01;
    if (std::fabs(of_a - of_b) < kLost) return std::nullopt;
    return Better{of_a < of_b, KeptFor::kDetail, false};
  }

  // What differs is the same everywhere: one has noise.
  std::optional<Better> is_without_noise() const {
    constexpr double kEven = 0.68;
    constexpr double kLeast = 3;  // gray values
    const Plane toned = Tones(upon_a_, a_).of(upon_a_);
    std::vector<float> offs;
    double fine_a = 0;
    double fine_b = 0;
    for (int top = 0; top + kSide <= a_.height; top += kSide) {
      for (int left = 0; left + kSide <= a_.width; left += kSide) {
        double off = 0, of_a = 0, of_b = 0;
        bool is_seen = true;
        for (int y = top; y < top + kSide; ++y) {
          for (int x = left; x + 1 < left + kSide; ++x) {
            is_seen = is_seen && toned.at(x, y) != kNothing && toned.at(x + 1, y) != kNothing;
            off += std::pow(a_.at(x, y) - toned.at(x, y), 2);
            of_a += std::pow(a_.at(x, y) - a_.at(x + 1, y), 2);
            of_b += std::pow(toned.at(x, y) - toned.at(x + 1, y), 2);
          }
        }
        if (!is_seen) continue;
        offs.push_back(static_cast<float>(std::sqrt(off / (kSide * (kSide - 1)))));
        fine_a += of_a;
        fine_b += of_b;
      }
    }
    if (offs.size() < kFewBlocks) return std::nullopt;
    std::ranges::sort(offs);
    const double few = offs[offs.size() / 5];
    const double most = offs[offs.size() * 4 / 5];
    if (few < kLeast || few < kEven * most) return std::nullopt;
    return Better{fine_a < fine_b, KeptFor::kNothingAdded, false};
  }

  std::optional<Better> is_less_blocky() const {
    const double of_a = blockiness(a_);
    const double of_b = blockiness(b_);
    constexpr double kMore = 1.08;
    if (std::max(of_a, of_b) < kMore * std::min(of_a, of_b)) return std::nullopt;
    return Better{of_a < of_b, KeptFor::kLessCompressed, false};
  }

 private:
  static std::optional<Better> by_rounding(std::optional<double> of_a, std::optional<double> of_b) {
    if (!of_a || !of_b) return std::nullopt;
    constexpr double kFits = 0.3;
    constexpr double kFitsNot = 0.4;  // more
    const double off_a = std::fabs(*of_a);
    const double off_b = std::fabs(*of_b);
    if (std::min(off_a, off_b) > kFits || std::fabs(off_a - off_b) < kFitsNot) return std::nullopt;
    return Better{off_b < off_a, KeptFor::kLessCompressed, true};
  }

  const Plane& a_;
  const Plane& b_;
  Compressed compressed_a_;
  Compressed compressed_b_;
  Plane upon_a_;
  Plane upon_b_;
  double shows_more_of_a_ = 0;
};

// map  in pixels; whole: it moves whole ones
std::optional<Better> by_pixels(const Plane& a, const Plane& b, const Affine& map, bool whole,
                                bool is_whole_size, double altered) {
  const Affine exact = share_map(map, a, b);
  const double margin = whole ? 0.5 / std::max(a.width, a.height) : 0.004;
  const double least = whole ? 0.008 : 0.02;
  const Beyond beyond_a = beyond(a, inverse(exact), margin);
  const Beyond beyond_b = beyond(b, exact, margin);
  const auto by_edges = by_extent(beyond_a, beyond_b, least);
  // Real content beyond an edge is plain; a seam may be a line of the picture by chance.
  constexpr double kSurelyAdded = 2.5;
  const bool is_surely_added =
      std::max(beyond_a.share > least ? beyond_a.least_seam : 1,
               beyond_b.share > least ? beyond_b.least_seam : 1) >= kSurelyAdded;
  if (by_edges && (by_edges->why == KeptFor::kShowsMore || is_surely_added)) return by_edges;
  const auto at_last = by_edges ? by_edges : by_extent_at_last(beyond_a, beyond_b, least);
  if (whole) {
    SameScale both(a, b, map);
    auto better = both.made_of();
    if (!better && !by_edges) better = both.shows_steps();
    if (better) {
      // What it was made of shows more, or less and then the rest was added.
      const double more = beyond_a.share - beyond_b.share;
      if (std::fabs(more) > least) {
        better->why = better->is_first == (more > 0) ? KeptFor::kShowsMore : KeptFor::kNothingAdded;
      }
      return better;
    }
    if (at_last) return at_last;
    constexpr double kLaidOn = 0.015;
    constexpr double kSurelyLaidOn = 0.05;
    constexpr double kVeryBlurred = 3;
    constexpr double kBlurred = 1.5;
    constexpr double kSofter = 1.25;
    if (const auto better = by_detail(a, b, map, true, true, kVeryBlurred)) return better;
    if (const auto better = both.is_without_noise()) return better;
    if (altered < kSurelyLaidOn) {
      if (const auto better = both.filtered()) return better;
    }
    if (const auto better = by_detail(a, b, map, true, true, kBlurred)) return better;
    if (altered >= kLaidOn) {
      if (const auto better = both.has_no_outlines()) return better;
    }
    if (const auto better = by_detail(a, b, map, true, true, kSofter)) return better;
    if (const auto better = both.has_more_levels()) return better;
    if (const auto better = both.is_less_blocky()) return better;
    return altered < kLaidOn ? both.has_more_tones() : std::nullopt;
  }
  if (at_last) return at_last;
  return by_detail(a, b, map, is_whole_size, false, 1);
}

}  // namespace

ComparedPictures better_picture(const JudgedPicture& first, const JudgedPicture& second,
                                const Affine& shares) {
  const Plane a = as_plane(*first.gray);
  const Plane b = as_plane(*second.gray);
  const bool is_whole_size = first.is_whole_size && second.is_whole_size;
  Affine map = pixel_map(shares, a, b);
  const std::optional<Affine> whole = is_whole_size ? whole_pixel_map(a, b, map) : std::nullopt;
  if (whole) map = *whole;
  ComparedPictures out{std::nullopt, altered_share(a, b, map)};
  out.better = by_pixels(a, b, map, whole.has_value(), is_whole_size, out.altered);
  return out;
}

}  // namespace winnow::dedup
