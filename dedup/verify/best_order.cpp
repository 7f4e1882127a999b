#include "dedup/verify/best_order.h"

#include <oneapi/tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <list>
#include <optional>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/resample.h"
#include "dedup/verify/best_rounds.h"
#include "dedup/verify/better_picture.h"
#include "dedup/verify/collages.h"
#include "dedup/verify/compared_internal.h"

namespace winnow::dedup {
namespace {

// The linked pairs that a comparison of pictures may decide, most probable first.
std::vector<VerifiedPair> pairs_to_compare(const VerifiedLinks& links) {
  std::vector<RowPair> linked;
  for (const Edge& edge : links.edges) linked.emplace_back(edge.a, edge.b);
  std::ranges::sort(linked);
  std::vector<VerifiedPair> pairs;
  for (const VerifiedPair& pair : links.verification.pairs) {
    if (!std::ranges::binary_search(linked, RowPair(pair.row_a, pair.row_b))) continue;
    if (is_flat(pair.map) || shows_part_of_collage(pair, links.collages)) continue;
    pairs.push_back(pair);
  }
  std::ranges::stable_sort(pairs, std::greater(), &VerifiedPair::probability);
  return pairs;
}

// The picture of a row: at full size, or for a more exact registration than by thumbnails.
struct Picture {
  Image gray;
  bool is_whole_size = false;
  std::optional<Compared> close;  // with about kCloserPixels
};

// The common centre of two pictures at full size, if one is too large to be compared as a whole.
// The positions of 8-pixel blocks are preserved.
struct Middle {
  Image a;
  Image b;
  Affine map;  // in shares
};
std::optional<Middle> middle_of_both(const Image& a, const Image& b, const Affine& map) {
  constexpr double kSide = 1024;  // pixels, in the picture that has fewer for this area
  constexpr int kLeast = 64;
  constexpr int kBlock = 8;
  const auto in_pixels_of = [](const Image& image) {
    return Affine{.xx = static_cast<double>(image.width_px),
                  .yy = static_cast<double>(image.height_px)};
  };
  const Affine pixels = after(in_pixels_of(b), after(map, inverse(in_pixels_of(a))));
  const double zoom = zoom_of(pixels);
  const Affine back = inverse(pixels);
  const auto at = [](double middle, double half, int most) {
    const double from = std::clamp(middle - half, 0.0, static_cast<double>(most));
    const double to = std::clamp(middle + half, 0.0, static_cast<double>(most));
    const int begin = static_cast<int>(from) / kBlock * kBlock;
    return std::pair(begin, static_cast<int>(to) - begin);
  };
  const auto box = [&](const Image& image, double x, double y, double half_x, double half_y) {
    const auto [left, width] = at(x, half_x, image.width_px);
    const auto [top, height] = at(y, half_y, image.height_px);
    return Box{.top = top, .left = left, .height_px = height, .width_px = width};
  };
  const double half = kSide / 2 / std::max(1.0, zoom);
  const double x = (a.width_px / 2.0 + back.x_of(b.width_px / 2.0, b.height_px / 2.0)) / 2;
  const double y = (a.height_px / 2.0 + back.y_of(b.width_px / 2.0, b.height_px / 2.0)) / 2;
  const Box of_a = box(a, x, y, half, half);
  const Box of_b = box(b, pixels.x_of(x, y), pixels.y_of(x, y),
                       half * (std::fabs(pixels.xx) + std::fabs(pixels.xy)),
                       half * (std::fabs(pixels.yx) + std::fabs(pixels.yy)));
  if (std::min({of_a.width_px, of_a.height_px, of_b.width_px, of_b.height_px}) < kLeast) {
    return std::nullopt;
  }
  const auto shares_of = [](const Box& part) {
    return Affine{.xx = static_cast<double>(part.width_px),
                  .x0 = static_cast<double>(part.left),
                  .yy = static_cast<double>(part.height_px),
                  .y0 = static_cast<double>(part.top)};
  };
  return Middle{to_gray(part_of(a.view(), of_a)), to_gray(part_of(b.view(), of_b)),
                after(inverse(shares_of(of_b)), after(pixels, shares_of(of_a)))};
}

class ComparingPairs {
 public:
  ComparingPairs(const Fingerprints& table, const PictureSource& thumbnails,
                 const CloserSource& closer)
      : table_(table), thumbnails_(thumbnails), closer_(closer) {}

  PictureComparison told(const VerifiedPair& pair) {
    LastPictures& last = last_.local();
    const Picture& a = last.of(pair.row_a, *this);
    const Picture& b = last.of(pair.row_b, *this);
    Preference by_columns = preference_by_bytes(pair.row_a, pair.row_b);
    if (a.gray.pixels.empty() || b.gray.pixels.empty()) return {by_columns};
    const Affine map = registered(pair.map, a, b);
    auto [better, altered, is_compressed_alike] =
        better_picture({&a.gray, a.is_whole_size}, {&b.gray, b.is_whole_size}, map);
    if (!(a.is_whole_size && b.is_whole_size) && !(better && better->is_sure)) {
      if (const auto middle = by_middle(pair, map)) better = middle;
    }
    // Colours may come from a frame or an overlay.
    constexpr double kLaidOn = 0.015;
    const bool is_of_frame = better && better->is_sure &&
                             (better->why == KeptFor::kShowsMore ||
                              better->why == KeptFor::kNothingAdded || altered >= kLaidOn);
    if (by_columns.why == KeptFor::kColour && !is_of_frame) {
      by_columns.is_likely = by_columns.is_sure = true;
      return {by_columns, altered};
    }
    if (!better && is_compressed_alike && by_columns.why == KeptFor::kLessCompressed) {
      by_columns = preference_by_columns(table_, pair.row_a, pair.row_b);
    }
    if (!better) return {by_columns, altered};
    return {{better->is_first ? pair.row_a : pair.row_b, better->is_first ? pair.row_b : pair.row_a,
             better->why, /*is_likely=*/true, better->is_sure},
            altered};
  }

 private:
  // Among pictures with equal pixel counts but different content, the larger file is less
  // compressed.
  Preference preference_by_bytes(std::uint32_t row, std::uint32_t other) const {
    const Preference by_columns = preference_by_columns(table_, row, other);
    const std::uint64_t here = table_.file_bytes[row];
    const std::uint64_t there = table_.file_bytes[other];
    if (by_columns.why != KeptFor::kFirst || here == there ||
        table_.pixel_hashes[row] == table_.pixel_hashes[other]) {
      return by_columns;
    }
    return {here > there ? row : other, here > there ? other : row, KeptFor::kLessCompressed};
  }

  Picture picture_of(std::uint32_t row) const {
    Picture out;
    const std::uint64_t pixels = std::uint64_t{table_.widths_px[row]} * table_.heights_px[row];
    std::optional<Image> gray;
    if (closer_) {
      gray = closer_.gray(row, pixels <= kMostWholePixels ? static_cast<int>(pixels) : kFinePixels);
    }
    out.gray = gray ? *std::move(gray) : thumbnails_(row);
    out.is_whole_size = static_cast<std::uint32_t>(out.gray.width_px) == table_.widths_px[row] &&
                        static_cast<std::uint32_t>(out.gray.height_px) == table_.heights_px[row];
    if (out.gray.pixels.empty()) return out;
    if (auto close = closer_picture(out.gray.view(), kCloserPixels)) out.close.emplace(*close);
    return out;
  }

  // Compares at full size. What lies outside the centre tells nothing.
  std::optional<Better> by_middle(const VerifiedPair& pair, const Affine& map) const {
    const auto a = in_all_pixels(pair.row_a);
    const auto b = in_all_pixels(pair.row_b);
    if (!a || !b) return std::nullopt;
    const auto middle = middle_of_both(*a, *b, map);
    if (!middle) return std::nullopt;
    return better_picture({&middle->a, true}, {&middle->b, true}, middle->map, /*are_cut=*/true)
        .better;
  }
  std::optional<Image> in_all_pixels(std::uint32_t row) const {
    constexpr std::uint64_t kMostPixels = std::uint64_t{1} << 25;
    const std::uint64_t pixels = std::uint64_t{table_.widths_px[row]} * table_.heights_px[row];
    if (!closer_ || pixels > kMostPixels) return std::nullopt;
    auto gray = closer_.gray(row, static_cast<int>(pixels));
    if (!gray || static_cast<std::uint32_t>(gray->width_px) != table_.widths_px[row] ||
        static_cast<std::uint32_t>(gray->height_px) != table_.heights_px[row]) {
      return std::nullopt;
    }
    return gray;
  }

  static Affine registered(const Affine& map, const Picture& a, const Picture& b) {
    if (!a.close || !b.close) return map;
    const auto registration = register_pictures(
        a.close->picture, b.close->picture, in_pixels(map, *a.close, *b.close), a.close->middle());
    return registration ? in_shares(registration->map, *a.close, *b.close) : map;
  }

  // The pictures that were read last.
  class LastPictures {
   public:
    // The result stays valid during the next call.
    const Picture& of(std::uint32_t row, const ComparingPairs& from) {
      const auto known =
          std::ranges::find(pictures_, row, &std::pair<std::uint32_t, Picture>::first);
      if (known != pictures_.end()) {
        pictures_.splice(pictures_.begin(), pictures_, known);
      } else {
        pictures_.emplace_front(row, from.picture_of(row));
        if (pictures_.size() > kMost) pictures_.pop_back();
      }
      return pictures_.front().second;
    }

   private:
    static constexpr std::size_t kMost = 6;  // at most kMostWholePixels each
    std::list<std::pair<std::uint32_t, Picture>> pictures_;
  };

  const Fingerprints& table_;
  const PictureSource& thumbnails_;
  const CloserSource& closer_;
  tbb::enumerable_thread_specific<LastPictures> last_;
};

}  // namespace

std::shared_ptr<const PreferredOrder> best_order(const ColumnSource& columns,
                                                 const ThumbnailSource& thumbnails,
                                                 const VerifiedLinks& links,
                                                 const VerifyOptions& how) {
  ColumnNames names = preference_columns();
  names.insert({"file_bytes", "pixel_hashes"});
  const Fingerprints table = columns(names);
  const PictureSource pictures =
      thumbnails ? pictures_of(table, thumbnails) : [](std::uint32_t) { return Image(); };
  ComparingPairs comparing(table, pictures, how.closer);
  const std::vector<VerifiedPair> pairs = pairs_to_compare(links);
  std::vector<RowPair> rows;
  for (const VerifiedPair& pair : pairs) rows.emplace_back(pair.row_a, pair.row_b);
  const auto told = compare_for_best(rows, places_by_columns(table), [&](std::size_t i) {
    if (how.search.stop && how.search.stop()) {
      throw StoppedError("stopped while copies were compared");
    }
    return comparing.told(pairs[i]);
  });
  std::vector<Preference> preferences;
  std::vector<RowPair> compared;
  for (std::size_t i = 0; i < told.size(); ++i) {
    if (!told[i]) continue;
    preferences.push_back(told[i]->preference);
    compared.push_back(rows[i]);
  }
  std::ranges::sort(compared);
  for (const Edge& edge : links.edges) {
    if (std::ranges::binary_search(compared, RowPair(edge.a, edge.b))) continue;
    preferences.push_back(preference_by_columns(table, edge.a, edge.b));
  }
  return std::make_shared<const PreferredOrder>(table, std::move(preferences));
}

}  // namespace winnow::dedup
