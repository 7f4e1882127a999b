#include "dedup/verify/closer_look.h"

#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <type_traits>
#include <unordered_set>
#include <utility>

#include "common/error.h"
#include "common/resample.h"
#include "dedup/verify/best_of_rows_internal.h"
#include "dedup/verify/colours.h"
#include "dedup/verify/compared_internal.h"
#include "dedup/verify/differences.h"
#include "dedup/verify/families.h"
#include "dedup/verify/match_model.h"
#include "dedup/verify/transformation.h"

namespace winnow::dedup {
namespace {

bool is_doubtful(const VerifiedPair& pair) {
  return pair.probability >= kLeastDoubtful && pair.probability < kMostDoubtful;
}

// Result of comparing two pictures at one size.
struct Look {
  std::optional<Affine> map = {};  // in shares; nullopt if they cannot be aligned
  float probability = 0;
  double agreement = -1;  // as in Evidence
  Differences differences = {};
};

Look look_at(const Compared& a, const Compared& b, const Affine& map) {
  const auto registration =
      register_pictures(a.picture, b.picture, in_pixels(map, a, b), a.middle());
  if (!registration) return {};
  return {in_shares(registration->map, a, b),
          static_cast<float>(known_model().probability(registration->evidence)),
          registration->evidence.agreement,
          differences_between(a.picture, b.picture, registration->map)};
}

// Verdict on two pictures, as far as a look at them tells.
enum class IsOne {
  kNo,
  kUnlessFewAreAlike,   // yes, unless they belong even to a small family
  kMaybe,               // yes, unless they belong to a family
  kUnlessMostAreAlike,  // a close look shows it, a fine one does not
  kShown,
};
bool is_shown(IsOne is_one) { return is_one >= IsOne::kUnlessMostAreAlike; }

// A pair and its verdict.
struct Looked {
  VerifiedPair pair;
  IsOne is_one = IsOne::kMaybe;
  bool is_open = false;     // larger pictures may change the verdict
  bool is_settled = false;  // larger pictures were compared, or must not be
  bool has_larger = false;  // both have larger pictures; known after comparing
  bool is_half_plain = false;
  double outlier = 0;  // by thumbnails
};

// Pictures at one size. Each thread keeps the last one, since pairs come sorted by first row.
class Pictures {
 public:
  explicit Pictures(decltype(CloserSource::gray) source, int pixels)
      : source_(std::move(source)), pixels_(pixels) {}

  // Registers two pictures, starting from the map of the pair. nullopt if either has no such
  // picture.
  std::optional<Look> look(const VerifiedPair& pair) {
    return of_both(pair,
                   [&](const Compared& a, const Compared& b) { return look_at(a, b, pair.map); });
  }

  // Uses the map of the pair, which must come from pictures of this size.
  std::optional<Differences> differences(const VerifiedPair& pair) {
    return of_both(pair, [&](const Compared& a, const Compared& b) {
      return differences_between(a.picture, b.picture, in_pixels(pair.map, a, b));
    });
  }

 private:
  template <class Function>
  auto of_both(const VerifiedPair& pair, const Function& function)
      -> std::optional<std::invoke_result_t<Function, const Compared&, const Compared&>> {
    const auto [of_a, of_b] = pixels_of(pair.map);
    Last& last = last_.local();
    if (last.row != pair.row_a || last.pixels != of_a) {
      const auto picture = source_(pair.row_a, of_a);
      last.picture = picture ? std::make_unique<Compared>(*picture) : nullptr;
      last.row = pair.row_a;
      last.pixels = of_a;
    }
    if (!last.picture) return std::nullopt;
    const auto other = source_(pair.row_b, of_b);
    if (!other) return std::nullopt;
    return function(*last.picture, Compared(*other));
  }

  // Numbers of pixels at which both have one scale; the picture that shows less gets fewer.
  std::pair<int, int> pixels_of(const Affine& map) const {
    constexpr double kLeastShare = 0.25;
    const double zoom2 = std::fabs(map.determinant());  // in shares: pixels of b for one of a
    const auto share = [&](double of) {
      return static_cast<int>(std::lround(pixels_ * std::clamp(of, kLeastShare, 1.0)));
    };
    return {share(zoom2), share(1 / std::max(zoom2, 1e-6))};
  }

  struct Last {
    std::optional<std::uint32_t> row;
    int pixels = 0;
    std::unique_ptr<Compared> picture;
  };
  decltype(CloserSource::gray) source_;
  int pixels_;
  tbb::enumerable_thread_specific<Last> last_;
};

// Agreement of half plain pictures in fine details. It is mostly good if something is overlaid on
// one of them, and worse if they only share a pattern; but blurred copies agree badly, too.
constexpr double kGoodFineAgreement = 0.75;
constexpr double kBadFineAgreement = 0.5;

// The thumbnails are clearly plain.
bool is_settled_by(const Differences& thumbnails) {
  constexpr double kClearlyPlain = 0.3;
  return is_plain(thumbnails) &&
         std::min(thumbnails.plain, thumbnails.plain_alike) >= kClearlyPlain &&
         !is_worth_a_closer_look(thumbnails);
}

// Examines pairs.
class Looking {
 public:
  Looking(const PictureSource& thumbnails, const CloserSource& closer)
      : thumbnails_([&](std::uint32_t row, int) { return thumbnails(row); }, kComparedPixels),
        close_(
            closer ? closer.gray : [](std::uint32_t, int) { return std::nullopt; }, kCloserPixels),
        fine_(
            closer ? closer.gray : [](std::uint32_t, int) { return std::nullopt; }, kFinePixels) {}

  void look_at_thumbnails(Looked& looked) {
    const Differences small = *thumbnails_.differences(looked.pair);
    looked.outlier = small.outlier;
    looked.is_half_plain = is_half_plain(small);
    looked.is_one = is_copy_by_thumbnails(small) ? IsOne::kShown
                    : is_plain(small)            ? IsOne::kNo
                                                 : IsOne::kMaybe;
    looked.is_open = is_doubtful(looked.pair) || !(is_rich(small) || is_settled_by(small));
  }

  // Returns whether there were larger pictures.
  bool look_at_larger(Looked& looked) {
    VerifiedPair& pair = looked.pair;
    const auto close = close_.look(pair);
    if (!close) return false;
    if (!close->map) {
      if (is_doubtful(pair)) pair.probability = 0;
      return true;
    }
    pair.probability = close->probability;
    pair.map = *close->map;
    looked.is_half_plain = is_half_plain(close->differences);
    looked.is_one = judged(pair, close->differences);
    return true;
  }

 private:
  IsOne judged(const VerifiedPair& pair, const Differences& close) {
    if (!is_half_plain(close)) {
      if (!is_copy_by_close(close)) return IsOne::kMaybe;
      if (is_sure_by_close(close)) return IsOne::kShown;
      const auto fine = fine_.look(pair);
      return !fine || is_copy_by_both(close, fine->differences) ? IsOne::kShown
                                                                : IsOne::kUnlessMostAreAlike;
    }
    const bool has_to_be_shown = is_plain(close);
    if (has_to_be_shown && !is_worth_a_fine_look(close)) return IsOne::kNo;
    const auto fine = fine_.look(pair);
    const bool is_copy = fine ? is_copy_by_both(close, fine->differences) : is_copy_by_close(close);
    if (is_copy) return IsOne::kShown;
    if (has_to_be_shown || (fine && fine->agreement < kBadFineAgreement)) return IsOne::kNo;
    return fine && fine->agreement < kGoodFineAgreement ? IsOne::kUnlessFewAreAlike : IsOne::kMaybe;
  }

  Pictures thumbnails_;
  Pictures close_;
  Pictures fine_;
};

// Keeps only the best open pairs of each picture, by thumbnails. Adds the others to `skipped`.
void keep_best_open(std::vector<Looked>& all, RowPairs& skipped) {
  constexpr int kMostOfPicture = 8;
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].is_open) open.push_back(i);
  }
  std::ranges::stable_sort(open, {}, [&](std::size_t i) { return all[i].outlier; });
  std::vector<std::pair<std::uint32_t, std::uint32_t>> rows;
  for (const std::size_t i : open) rows.emplace_back(all[i].pair.row_a, all[i].pair.row_b);
  const std::vector<bool> are_best = are_best_of_a_row(rows, kMostOfPicture);
  for (std::size_t k = 0; k < open.size(); ++k) {
    if (are_best[k]) continue;
    all[open[k]].is_open = false;
    all[open[k]].is_settled = true;
    skipped.insert(rows[k]);
  }
}

// Pairs that look alike: probable enough, or refused. `places` receives their positions.
constexpr float kAlike = 0.5F;
constexpr float kVeryAlike = 0.9F;
std::vector<AlikePair> alike_pairs(std::span<const Looked> all, std::vector<std::size_t>& places) {
  std::vector<AlikePair> pairs;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Looked& one = all[i];
    if (one.is_one != IsOne::kNo && one.pair.probability < kAlike) continue;
    pairs.push_back({one.pair.row_a, one.pair.row_b, is_shown(one.is_one),
                     one.is_one == IsOne::kUnlessFewAreAlike ? kFewOfFamily : kManyOfFamily});
    places.push_back(i);
  }
  return pairs;
}

// For each pair, whether it belongs to a family.
std::vector<char> are_of_families(std::span<const Looked> all) {
  std::vector<std::size_t> places;
  const std::vector<char> of_family = are_of_families(alike_pairs(all, places));
  std::vector<char> all_of_family(all.size());
  for (std::size_t i = 0; i < places.size(); ++i) all_of_family[places[i]] = of_family[i];
  return all_of_family;
}

// Whether two pictures show about the same area, neither being a part of the other.
bool is_about_whole(const VerifiedPair& pair) {
  constexpr double kMostOfArea = 0.7;
  if (is_flat(pair.map)) return true;
  const Transformation what = transformation_of(pair.map, {}, {});
  return std::min(what.shown.area(), what.taken.area()) >= kMostOfArea;
}

// For each row, whether it belongs to a cluster of look-alikes.
std::vector<char> are_of_lumps(std::span<const Looked> all) {
  std::vector<AlikePair> pairs;
  std::vector<char> refused;
  for (const Looked& one : all) {
    if (one.pair.probability < kVeryAlike) continue;
    pairs.push_back({one.pair.row_a, one.pair.row_b, is_shown(one.is_one)});
    refused.push_back(one.is_one == IsOne::kNo ? 1 : 0);
  }
  return are_mostly_look_alikes(pairs, refused);
}

// Refuses pairs next to look-alikes. A picture that was told apart from similar ones has a common
// layout, so similarity with one more picture proves nothing unless they are shown to be one. A
// part of it may have no layout, like a photo on a phone's screen.
// Likewise for pictures in a cluster with more look-alikes than copies.
void refuse_beside_look_alikes(std::vector<Looked>& all) {
  constexpr std::uint32_t kFew = 4;
  std::vector<std::size_t> places;
  const std::vector<AlikePair> pairs = alike_pairs(all, places);
  std::vector<char> refused;
  for (const std::size_t i : places) refused.push_back(all[i].is_one == IsOne::kNo ? 1 : 0);
  const std::vector<std::uint32_t> counts = count_look_alikes(pairs, refused);
  const std::vector<char> mostly = are_of_lumps(all);
  for (Looked& one : all) {
    const std::uint32_t row_a = one.pair.row_a;
    const std::uint32_t row_b = one.pair.row_b;
    if (one.is_one == IsOne::kShown || std::max(row_a, row_b) >= counts.size()) continue;
    const bool of_a = counts[row_a] >= kFew;
    const bool of_b = counts[row_b] >= kFew;
    const bool has_layout = is_about_whole(one.pair) ? of_a || of_b : of_a && of_b;
    const bool is_of_lump = row_a < mostly.size() && mostly[row_a] != 0;
    if ((has_layout && !is_shown(one.is_one)) || is_of_lump) one.is_one = IsOne::kNo;
  }
}

// Refuses pairs with different colours: pages, goods and flags may look alike in gray only. Colours
// distinguish pictures that are largely plain.
void refuse_other_colours(std::vector<Looked>& all, const CloserSource& closer,
                          const std::function<void()>& check_stop) {
  if (!closer.colours) return;
  std::vector<std::size_t> open;
  std::vector<std::uint32_t> rows;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].is_one == IsOne::kNo || !all[i].is_half_plain) continue;
    open.push_back(i);
    rows.insert(rows.end(), {all[i].pair.row_a, all[i].pair.row_b});
  }
  std::ranges::sort(rows);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  std::vector<std::optional<Image>> colours(rows.size());
  tbb::parallel_for(std::size_t{0}, rows.size(), [&](std::size_t i) {
    check_stop();
    colours[i] = closer.colours(rows[i]);
  });
  const auto of_row = [&](std::uint32_t row) -> const std::optional<Image>& {
    return colours[static_cast<std::size_t>(std::ranges::lower_bound(rows, row) - rows.begin())];
  };
  tbb::parallel_for(std::size_t{0}, open.size(), [&](std::size_t k) {
    Looked& one = all[open[k]];
    const std::optional<Image>& a = of_row(one.pair.row_a);
    const std::optional<Image>& b = of_row(one.pair.row_b);
    if (a && b && have_other_colours(*a, *b, one.pair.map, is_shown(one.is_one))) {
      one.is_one = IsOne::kNo;
    }
  });
}

// Refuses pairs of families, which prove nothing. Pairs of pictures without larger versions stay,
// because thumbnails show too few copies to distinguish a family from many copies.
void refuse_families(std::vector<Looked>& all) {
  std::unordered_set<std::uint32_t> rows;
  for (const Looked& one : all) {
    if (one.has_larger) rows.insert({one.pair.row_a, one.pair.row_b});
  }
  const std::vector<char> of_family = are_of_families(std::span<const Looked>(all));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const VerifiedPair& pair = all[i].pair;
    if (of_family[i] == 0 || !rows.contains(pair.row_a) || !rows.contains(pair.row_b)) continue;
    all[i].is_one = IsOne::kNo;
  }
}

}  // namespace

std::optional<Image> closer_picture(ImageView image, int pixels) {
  const double there = static_cast<double>(image.width_px) * image.height_px;
  if (2 * there < pixels) return std::nullopt;
  Image gray = to_gray(image);
  const double share = std::sqrt(pixels / there);
  if (share >= 1) return gray;
  const auto shorter = [&](int side_px) {
    return std::max(1, static_cast<int>(std::lround(side_px * share)));
  };
  return resize(gray.view(), shorter(image.height_px), shorter(image.width_px),
                ResampleFilter::kBilinear);
}

LookedCloser look_closer(std::vector<VerifiedPair>& pairs, const PictureSource& thumbnails,
                         const CloserSource& closer, const StopRequested& stop) {
  const auto check_stop = [&] {
    if (stop && stop()) throw StoppedError("stopped while larger pictures were compared");
  };
  Looking looking(thumbnails, closer);
  std::vector<Looked> looked;
  for (const VerifiedPair& pair : pairs) looked.push_back({.pair = pair});
  tbb::parallel_for(std::size_t{0}, looked.size(), [&](std::size_t i) {
    check_stop();
    looking.look_at_thumbnails(looked[i]);
  });
  LookedCloser out;
  std::atomic<std::size_t> compared = 0;
  const auto look_at_open = [&] {
    keep_best_open(looked, out.skipped);
    tbb::parallel_for(std::size_t{0}, looked.size(), [&](std::size_t i) {
      check_stop();
      if (!looked[i].is_open) return;
      looked[i].is_open = false;
      looked[i].is_settled = true;
      looked[i].has_larger = looking.look_at_larger(looked[i]);
      if (looked[i].has_larger) ++compared;
    });
  };
  look_at_open();
  // Copies of rich pictures look alike, too. They must be shown before they are mistaken for a
  // family.
  const std::vector<char> of_family = are_of_families(std::span<const Looked>(looked));
  for (std::size_t i = 0; i < looked.size(); ++i) {
    Looked& one = looked[i];
    one.is_open = of_family[i] != 0 && one.is_one == IsOne::kMaybe && !one.is_settled;
  }
  look_at_open();
  refuse_other_colours(looked, closer, check_stop);
  refuse_families(looked);
  refuse_beside_look_alikes(looked);
  out.compared = compared;
  std::vector<VerifiedPair> left;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (looked[i].is_one != IsOne::kNo) {
      left.push_back(looked[i].pair);
      left.back().is_shown = is_shown(looked[i].is_one);
    } else {
      out.look_alikes.push_back(pairs[i]);
    }
  }
  pairs = std::move(left);
  return out;
}

}  // namespace winnow::dedup
