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

constexpr double kLaidOn = 0.015;  // share of the blocks: more is not caused by compression

constexpr double kShows = 0.3;

bool is_known(const MadeOf& one) {
  constexpr double kKnown = 300;
  constexpr int kFrequencies = 5;
  return one.weight >= kKnown && one.frequencies >= kFrequencies;
}
// How clearly quantisation steps show, if there are any.
double shown(const MadeOf& one) {
  constexpr double kLeast = 50;
  constexpr int kFrequencies = 2;
  return one.weight < kLeast || one.frequencies < kFrequencies ? 0 : std::max(0.0, one.shows);
}

// Whether `b` was made from `a`, because its steps show in `b`; nullopt if unknown.
std::optional<bool> shown_original(const MadeOf& b_of_a, const MadeOf& a_of_b) {
  constexpr double kMore = 0.2;
  const double of_a = std::min(shown(b_of_a), 1.0);
  const double of_b = std::min(shown(a_of_b), 1.0);
  const bool is_a = of_a > of_b;
  if (std::fabs(of_a - of_b) <= kMore || !is_known(is_a ? b_of_a : a_of_b)) return std::nullopt;
  if (!is_known(is_a ? a_of_b : b_of_a) && std::min(of_a, of_b) > kShows) return std::nullopt;
  return is_a;
}

// The same, because the difference fits its rounding and no step of the other shows.
std::optional<bool> fitting_original(const MadeOf& b_of_a, const MadeOf& a_of_b) {
  constexpr double kShowsNot = 0.12;
  constexpr double kFits = 0.35;
  constexpr double kFitsBetter = 0.2;
  constexpr double kFitsFarBetter = 0.4;
  if (!b_of_a.left || !a_of_b.left) return std::nullopt;
  const double off_b = std::fabs(*b_of_a.left);
  const double off_a = std::fabs(*a_of_b.left);
  const bool shows_not_a = is_known(b_of_a) && b_of_a.shows < kShowsNot;
  const bool shows_not_b = is_known(a_of_b) && a_of_b.shows < kShowsNot;
  const bool is_a = off_b < off_a;
  const double fits = std::min(off_a, off_b);
  const double better = std::max(off_a, off_b) - fits;
  if (fits > kFits) return std::nullopt;
  const bool is_other_out = is_a ? shows_not_b && !shows_not_a : shows_not_a && !shows_not_b;
  if (better < (is_other_out ? kFitsBetter : kFitsFarBetter)) return std::nullopt;
  return is_a;
}

// The common area of both pictures, aligned, at one scale.
class SameScale {
 public:
  SameScale(const Plane& a, const Plane& b, const Affine& whole)
      : a_(a),
        b_(b),
        compressed_a_(a),
        compressed_b_(b),
        upon_a_(moved_onto(a, b, whole)),
        upon_b_(moved_onto(b, a, inverse(whole))),
        toned_a_(Tones(upon_a_, a).of(upon_a_)),
        toned_b_(Tones(upon_b_, b).of(upon_b_)),
        are_blocks_alike_(std::lround(whole.x0) % kSide == 0 &&
                          std::lround(whole.y0) % kSide == 0 && whole.xx == 1 && whole.yy == 1) {
    const BesideUpon beside_a(compressed_a_, toned_a_);
    const BesideUpon beside_b(compressed_b_, toned_b_);
    b_of_a_ = better::made_of(beside_b, beside_a, are_blocks_alike_);
    a_of_b_ = better::made_of(beside_a, beside_b, are_blocks_alike_);
  }

  // Decides by the steps of one picture that show in the other.
  std::optional<Better> shows_steps() const {
    if (are_compressed_alike()) return std::nullopt;
    return less_compressed(shown_original(b_of_a_, a_of_b_), true);
  }
  // Decides by what the steps of one picture round away.
  std::optional<Better> fits_rounding() const {
    if (are_compressed_alike()) return std::nullopt;
    return less_compressed(fitting_original(b_of_a_, a_of_b_), true);
  }

  // Whether both have the same steps, so that neither shows that it was made from the other.
  bool are_compressed_alike() const {
    constexpr double kSameSteps = -0.5;
    constexpr double kSame = 0.5;
    constexpr double kMoreThanACopy = 1.3;
    const double more = std::max(shown(a_of_b_), shown(b_of_a_));
    const double less = std::min(shown(a_of_b_), shown(b_of_a_));
    if (a_of_b_.left && b_of_a_.left && std::max(*a_of_b_.left, *b_of_a_.left) < kSameSteps) {
      return std::fabs(*a_of_b_.left - *b_of_a_.left) < kSame || less > kShows;
    }
    return less > kShows && more > kMoreThanACopy;
  }
  std::optional<Better> was_compressed_before() const {
    return less_compressed(is_earlier(compressed_a_, compressed_b_), false);
  }

  // An overlay on one picture has an outline there that the other lacks.
  std::optional<Better> has_no_outlines() const {
    constexpr float kLeast = 20;
    constexpr double kSteeper = 1.25;
    const Plane& toned = toned_a_;
    Plane difference = difference_where_seen(a_, toned);
    // If one has lost tones, they only map in one direction.
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
    constexpr double kFewest = 0.002;  // share of all pixels
    if (count < kFewest * static_cast<double>(a_.values.size())) return std::nullopt;
    if (std::fabs(of_a - of_b) < kLeastOutline * count) return std::nullopt;
    if (std::max(of_a, of_b) < kSteeper * std::min(of_a, of_b)) return std::nullopt;
    return Better{of_a < of_b, KeptFor::kNothingAdded, false};
  }

  // The picture with the wider spread of gray values.
  std::optional<Better> has_more_levels(double least) const {
    const double of_a = entropy(a_, upon_a_);
    const double of_b = entropy(b_, upon_b_);
    if (std::fabs(of_a - of_b) < least) return std::nullopt;
    return Better{of_a > of_b, KeptFor::kDetail, false};
  }

  // Decides if one picture has more detail. If a filter turns it into the other, the other is a
  // blurred copy. Otherwise the other is strongly compressed, or this one was sharpened, or has
  // noise or text.
  std::optional<Better> sharper_or_sharpened(const Affine& map, double altered) const {
    constexpr double kSharper = 1.25;
    constexpr double kVeryBlurred = 2.6;  // more than sharpening causes
    const auto ratio = more_detail(a_, b_, map);
    if (!ratio || std::max(*ratio, 1 / *ratio) < kSharper) return std::nullopt;
    const bool is_a_sharper = *ratio > 1;
    if (std::max(*ratio, 1 / *ratio) >= kVeryBlurred || is_filtered(/*is_a=*/!is_a_sharper)) {
      return Better{is_a_sharper, KeptFor::kDetail, false};
    }
    if (const auto better = is_less_blocky(kFarLessBlocky)) return better;
    if (altered >= kLaidOn) {
      if (const auto better = has_no_outlines()) return better;
    }
    return Better{!is_a_sharper, KeptFor::kNothingAdded, false};
  }

  std::optional<Better> has_more_tones() const {
    const double of_a = lost_at_ends(a_, upon_a_);
    const double of_b = lost_at_ends(b_, upon_b_);
    constexpr double kLost = 0.01;
    if (std::fabs(of_a - of_b) < kLost) return std::nullopt;
    return Better{of_a < of_b, KeptFor::kDetail, false};
  }

  // Differences that are equal everywhere mean that one picture has noise.
  std::optional<Better> is_without_noise() const {
    constexpr double kEven = 0.68;
    constexpr double kLeast = 3;    // gray values
    constexpr double kWhite = 0.2;  // correlation of neighbours
    const Plane& toned = toned_a_;
    std::vector<float> offs;
    double beside = 0;
    double all = 0;
    double fine_a = 0;
    double fine_b = 0;
    for (int top = 0; top + kSide <= a_.height; top += kSide) {
      for (int left = 0; left + kSide <= a_.width; left += kSide) {
        double off = 0, of_a = 0, of_b = 0, sum = 0, product = 0;
        bool is_seen = true;
        for (int y = top; y < top + kSide; ++y) {
          for (int x = left; x + 1 < left + kSide; ++x) {
            is_seen = is_seen && toned.at(x, y) != kNothing && toned.at(x + 1, y) != kNothing;
            sum += a_.at(x, y);
            const double here = a_.at(x, y) - toned.at(x, y);
            off += here * here;
            product += here * (a_.at(x + 1, y) - toned.at(x + 1, y));
            of_a += std::pow(a_.at(x, y) - a_.at(x + 1, y), 2);
            of_b += std::pow(toned.at(x, y) - toned.at(x + 1, y), 2);
          }
        }
        constexpr double kPixels = kSide * (kSide - 1);
        // Noise is clipped near black and white.
        if (!is_seen || std::fabs(sum / kPixels - 127.5) > 105) continue;
        offs.push_back(static_cast<float>(std::sqrt(off / kPixels)));
        fine_a += of_a;
        fine_b += of_b;
        beside += product;
        all += off;
      }
    }
    if (offs.size() < kFewBlocks) return std::nullopt;
    std::ranges::sort(offs);
    const double few = offs[offs.size() / 5];
    const double most = offs[offs.size() * 4 / 5];
    if (few < kLeast || few < kEven * most || beside > kWhite * all) return std::nullopt;
    return Better{fine_a < fine_b, KeptFor::kNothingAdded, false};
  }

  // Decides by steps between blocks, if the blocks of both coincide: far more of them, or any.
  std::optional<Better> is_less_blocky(double least) const {
    if (!are_blocks_alike_) return std::nullopt;
    const double of_a = blockiness(a_);
    const double of_b = blockiness(b_);
    if (std::max(of_a, of_b) < least * std::min(of_a, of_b)) return std::nullopt;
    return Better{of_a < of_b, KeptFor::kLessCompressed, false};
  }
  static constexpr double kLessBlocky = 1.08;
  static constexpr double kFarLessBlocky = 1.4;

 private:
  static std::optional<Better> less_compressed(std::optional<bool> is_a, bool is_sure) {
    if (!is_a) return std::nullopt;
    return Better{*is_a, KeptFor::kLessCompressed, is_sure};
  }

  // Whether a filter turns one picture into the other.
  bool is_filtered(bool is_a) const {
    constexpr double kFits = 0.65;
    constexpr double kFitsBetter = 0.69;
    const Plane like_a = filtered_like(a_, upon_a_);
    const Plane like_b = filtered_like(b_, upon_b_);
    const auto left_a = left_by_rounding(BesideUpon(compressed_a_, like_a));
    const auto left_b = left_by_rounding(BesideUpon(compressed_b_, like_b));
    if (!left_a || !left_b) return false;
    if (std::fabs(is_a ? *left_a : *left_b) > kFits) return false;
    // Compared in gray values, not in steps.
    const double here = *left_a + std::log(usual_step(compressed_a_));
    const double there = *left_b + std::log(usual_step(compressed_b_));
    return (is_a ? there - here : here - there) > kFitsBetter;
  }

  static double usual_step(const Compressed& picture) {
    double sum = 0;
    for (const int step : picture.steps) sum += step;
    return std::hypot(sum / kFrequencies / 4, 0.25);
  }

  const Plane& a_;
  const Plane& b_;
  Compressed compressed_a_;
  Compressed compressed_b_;
  Plane upon_a_;
  Plane upon_b_;
  Plane toned_a_;  // b aligned to a, in the tones of a
  Plane toned_b_;
  bool are_blocks_alike_;
  MadeOf b_of_a_;
  MadeOf a_of_b_;
};

// The areas beyond the edges of two pictures.
struct Edges {
  Edges(const Plane& plane_a, const Plane& plane_b, const Affine& map, bool whole)
      : least(whole ? 0.008 : 0.02) {
    const Affine exact = share_map(map, plane_a, plane_b);
    const double margin = whole ? 0.5 / std::max(plane_a.width, plane_a.height) : 0.004;
    a = beyond(plane_a, inverse(exact), margin);
    b = beyond(plane_b, exact, margin);
    // The other is a part that was rotated; nobody frames pictures at an angle.
    constexpr double kAslant = 0.012;  // radians
    is_aslant = turn_of(map) > kAslant;
    by_edges = by_extent(a, b, least);
  }

  std::optional<Better> surely() const {
    // Real content beyond an edge is plain; a seam may be a line in the picture by chance.
    constexpr double kSurelyAdded = 2.5;
    constexpr double kSteep = 5;    // real parts of a picture have weaker ones
    constexpr double kOfOne = 0.3;  // relative to what the other shows beyond this one
    if (is_aslant && std::min(a.share, b.share) < kOfOne * std::max(a.share, b.share) &&
        std::max(a.share, b.share) > least && std::max(a.seam, b.seam) < kSteep) {
      return Better{a.share > b.share, KeptFor::kShowsMore, true};
    }
    const bool is_surely_added = std::max(a.share > least ? a.least_seam : 1,
                                          b.share > least ? b.least_seam : 1) >= kSurelyAdded;
    if (by_edges && (by_edges->why == KeptFor::kShowsMore || is_surely_added)) return by_edges;
    return std::nullopt;
  }
  std::optional<Better> at_last() const {
    return by_edges ? by_edges : by_extent_at_last(a, b, least);
  }

  double least;
  Beyond a;
  Beyond b;
  bool is_aslant = false;
  std::optional<Better> by_edges;
};

// The better of two by their common content.
std::optional<Better> by_content(const SameScale& both, const Affine& map, double altered,
                                 bool is_compressed_alike) {
  constexpr double kMoreLevels = 0.6;
  constexpr double kMoreThanPlain = 0.2;
  constexpr double kSurelyLaidOn = 0.1;
  const auto far_less_blocky = both.is_less_blocky(SameScale::kFarLessBlocky);
  if (!far_less_blocky) {
    if (const auto better = both.is_without_noise()) return better;
  }
  if (is_compressed_alike) {
    const auto better = both.was_compressed_before();
    if (better || altered < kLaidOn) return better;
  }
  const auto levels = both.has_more_levels(altered >= kSurelyLaidOn ? kMoreThanPlain : kMoreLevels);
  if (const auto better = both.sharper_or_sharpened(map, altered)) return better;
  if (levels) return levels;
  if (far_less_blocky) return far_less_blocky;
  const auto outlines = both.has_no_outlines();
  if (outlines && altered >= kLaidOn) return outlines;
  if (const auto better = both.is_less_blocky(SameScale::kLessBlocky)) return better;
  const auto tones = both.has_more_tones();
  if (tones && outlines && tones->is_first != outlines->is_first) return std::nullopt;
  return altered < kLaidOn ? tones : std::nullopt;
}

// The better of two that a map of whole pixels aligns.
ComparedPictures by_whole_pixels(const Plane& a, const Plane& b, const Affine& map, double altered,
                                 bool are_cut) {
  const Edges edges(a, b, map, true);
  SameScale both(a, b, map);
  // The original shows more; or it shows less, and the rest was added.
  const auto with_extent = [&](Better better) {
    const double more = edges.a.share - edges.b.share;
    if (!are_cut && std::fabs(more) > edges.least) {
      better.why = better.is_first == (more > 0) ? KeptFor::kShowsMore : KeptFor::kNothingAdded;
    }
    return better;
  };
  if (const auto better = both.shows_steps()) return {with_extent(*better), altered};
  const auto surely = are_cut ? std::nullopt : edges.surely();
  if (surely) return {surely, altered};
  if (const auto better = both.fits_rounding()) return {with_extent(*better), altered};
  const auto at_last = are_cut ? std::nullopt : edges.at_last();
  if (at_last) return {at_last, altered};
  const bool is_alike = both.are_compressed_alike();
  return {by_content(both, map, altered, is_alike), altered, is_alike && altered < kLaidOn};
}

}  // namespace

ComparedPictures better_picture(const JudgedPicture& first, const JudgedPicture& second,
                                const Affine& shares, bool are_cut) {
  const Plane a = as_plane(*first.gray);
  const Plane b = as_plane(*second.gray);
  const bool is_whole_size = first.is_whole_size && second.is_whole_size;
  const Affine map = pixel_map(shares, a, b);
  if (is_whole_size) {
    if (const auto whole = whole_pixel_map(a, b, map)) {
      return by_whole_pixels(a, b, *whole, altered_share(a, b, *whole), are_cut);
    }
  }
  ComparedPictures out{std::nullopt, altered_share(a, b, map)};
  if (!are_cut) {
    const Edges edges(a, b, map, false);
    out.better = edges.surely();
    if (!out.better) out.better = edges.at_last();
  }
  if (!out.better) out.better = by_detail(a, b, map, is_whole_size);
  return out;
}

}  // namespace winnow::dedup
