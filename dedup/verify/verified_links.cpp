#include "dedup/verify/verified_links.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "dedup/search/nearest_edges.h"
#include "dedup/verify/collages.h"
#include "dedup/verify/through_others.h"
#include "dedup/verify/transformation.h"

namespace winnow::dedup {
namespace {

// The nearest pairs by codes of each picture; sorted.
std::vector<Edge> near_by_codes(const ColumnSource& columns, const Options& options,
                                const LinkSource& links, std::span<const std::uint32_t> rows) {
  constexpr std::size_t kMostOfPicture = 64;
  if (options.hash == kExact) return {};
  const Fingerprints table = columns({"codes:" + options.hash});
  NearestEdges near(table.size(), kMostOfPicture);
  find_links(table, options, links, rows, [&](std::span<const Edge> edges) { near.take(edges); });
  return near.sorted();
}

auto both_rows(const VerifiedPair& pair) { return std::pair(pair.row_a, pair.row_b); }

// Whether a closer look at two pictures shows more than their thumbnails.
class HaveLarger {
 public:
  HaveLarger(const Fingerprints& sizes, const CloserSource& closer)
      : sizes_(sizes), there_are_(closer) {}
  bool operator()(std::uint32_t row, std::uint32_t other) const {
    return there_are_ && is_large(row) && is_large(other);
  }

 private:
  bool is_large(std::uint32_t row) const {
    return 2.0 * sizes_.widths_px[row] * sizes_.heights_px[row] >= kCloserPixels;
  }
  const Fingerprints& sizes_;
  bool there_are_;
};

// Links further copies to their representatives. The new pairs are examined like all others.
void add_pairs_through_others(const PictureSource& pictures, std::span<const Edge> near,
                              const RowPairs& skipped, const VerifyOptions& how,
                              VerifiedLinks& out) {
  constexpr int kMostRounds = 8;
  std::vector<VerifiedPair>& pairs = out.verification.pairs;
  RowPairs tried;
  for (const VerifiedPair& pair : pairs) tried.insert(both_rows(pair));
  for (const VerifiedPair& pair : out.look_alikes) {
    if (!skipped.contains(both_rows(pair))) tried.insert(both_rows(pair));
  }
  for (int round = 0; round < kMostRounds; ++round) {
    const std::vector<Trial> trials = trials_through_others(pairs, tried);
    if (trials.empty()) return;
    std::vector<VerifiedPair> more =
        judge(trials, pictures, out.calibration.model, how.search.stop);
    std::erase_if(more, [](const VerifiedPair& pair) { return pair.probability < kLeastDoubtful; });
    const LookedCloser looked = look_closer(more, pictures, how.closer, how.search.stop);
    out.looked_closer += looked.compared;
    std::erase_if(
        more, [&](const VerifiedPair& pair) { return !is_probable(pair, out.kept.least, near); });
    out.verification.counts.candidates += trials.size();
    out.verification.counts.registered += trials.size();
    out.verification.counts.verified += more.size();
    pairs.insert(pairs.end(), more.begin(), more.end());
    std::ranges::sort(pairs, {}, both_rows);
  }
}

// Look-alikes include the pairs left out as doubtful. Excluded are those that were linked after
// all, and those that would not be copies anyway.
void keep_look_alikes(double least_probability, VerifiedLinks& out) {
  std::vector<VerifiedPair>& all = out.look_alikes;
  all.insert(all.end(), out.kept.doubtful.begin(), out.kept.doubtful.end());
  std::ranges::sort(all, {}, both_rows);
  std::erase_if(all, [&](const VerifiedPair& pair) {
    return pair.probability < least_probability ||
           find_pair(out, pair.row_a, pair.row_b) != nullptr;
  });
}

}  // namespace

VerifiedLinks verify_links(const ColumnSource& columns, const ThumbnailSource& thumbnails,
                           const Options& options, const LinkSource& links,
                           const VerifyOptions& how, const BeforeSearch& before_search) {
  const Fingerprints sizes = columns({"widths_px", "heights_px"});
  const PictureSource pictures = pictures_of(sizes, thumbnails);
  const std::vector<std::uint32_t> rows =
      matchable_rows(columns({"quality"}), options.hash, options.matching.least_quality);
  const std::vector<Edge> near = near_by_codes(columns, options, links, rows);
  VerifiedLinks out;
  out.calibration = calibrate(rows, pictures, /*seed=*/0, how.search.stop);
  if (before_search) before_search(rows, pictures, near, out.calibration.model, how);
  VerifyOptions with_doubtful = how;
  if (how.closer) with_doubtful.least_probability = std::min(how.least_probability, kLeastDoubtful);
  out.verification = verify(rows, pictures, near, out.calibration.model, with_doubtful);
  const HaveLarger have_larger(sizes, how.closer);
  std::erase_if(out.verification.pairs, [&](const VerifiedPair& pair) {
    return pair.probability < how.least_probability && !have_larger(pair.row_a, pair.row_b);
  });
  LookedCloser looked = look_closer(out.verification.pairs, pictures, how.closer, how.search.stop);
  std::erase_if(looked.skipped,
                [&](const auto& rows) { return !have_larger(rows.first, rows.second); });
  leave_uncounted(looked.look_alikes, near, out.verification);
  out.looked_closer = looked.compared;
  out.skipped = looked.skipped.size();
  out.look_alikes = std::move(looked.look_alikes);
  const Fingerprints labelled = columns({"labels"});
  out.kept = leave_out_false({out.calibration, near, &labelled.labels},
                             {how.least_probability, how.most_false}, out.verification);
  add_pairs_through_others(pictures, near, looked.skipped, how, out);
  keep_look_alikes(how.least_probability, out);
  out.collages = find_collages(out.verification.pairs, [&](std::uint32_t row) {
    std::optional<Image> larger;
    if (how.closer) larger = how.closer.gray(row, kCloserPixels);
    return larger ? *std::move(larger) : pictures(row);
  });
  for (const VerifiedPair& pair : out.verification.pairs) {
    if (shows_part_of_collage(pair, out.collages)) continue;
    out.edges.push_back({pair.row_a, pair.row_b, 0});
  }
  out.edges.insert(out.edges.end(), out.verification.undecided.begin(),
                   out.verification.undecided.end());
  std::ranges::sort(out.edges);
  const auto is_linked = [&](const Edge& edge) {
    const auto by_rows = [](const Edge& x) { return std::pair(x.a, x.b); };
    return std::ranges::binary_search(out.edges, by_rows(edge), {}, by_rows);
  };
  out.refused = near.size() - static_cast<std::uint64_t>(std::ranges::count_if(near, is_linked));
  return out;
}

const VerifiedPair* find_pair(const VerifiedLinks& verified, std::uint32_t row,
                              std::uint32_t other) {
  return find_pair(verified.verification.pairs, row, other);
}

const VerifiedPair* find_pair(std::span<const VerifiedPair> pairs, std::uint32_t row,
                              std::uint32_t other) {
  const auto wanted = std::pair(std::min(row, other), std::max(row, other));
  const auto at = std::ranges::lower_bound(pairs, wanted, {}, both_rows);
  return at != pairs.end() && both_rows(*at) == wanted ? &*at : nullptr;
}

std::string transformation_words(const VerifiedPair& pair, const Fingerprints& sizes,
                                 std::uint32_t kept, std::uint32_t copy) {
  const auto sides = [&](std::uint32_t row) {
    return PictureSides{static_cast<double>(sizes.widths_px[row]),
                        static_cast<double>(sizes.heights_px[row])};
  };
  const Affine map = pair.row_a == copy ? pair.map : inverse(pair.map);
  return words_of(transformation_of(map, sides(copy), sides(kept)));
}

std::vector<Edge> listed_pairs(const VerifiedLinks& verified) {
  std::vector<Edge> pairs = verified.edges;
  for (const VerifiedPair& pair : verified.verification.pairs) {
    if (shows_part_of_collage(pair, verified.collages))
      pairs.push_back({pair.row_a, pair.row_b, 0});
  }
  std::ranges::sort(pairs);
  return pairs;
}

LinkSource links_of(std::span<const Edge> links) {
  return [links](const CodeColumn& codes, std::span<const std::uint32_t> rows, int threshold,
                 const EdgeSink& sink) {
    std::vector<Edge> edges;
    for (const Edge& edge : links) {
      if (!std::ranges::binary_search(rows, edge.a) || !std::ranges::binary_search(rows, edge.b)) {
        continue;
      }
      const int bits = std::min(threshold, row_distance(codes, edge.a, edge.b));
      edges.push_back({edge.a, edge.b, static_cast<std::uint32_t>(bits)});
    }
    sink(edges);
  };
}

LinkSource links_of(std::shared_ptr<const VerifiedLinks> verified) {
  return
      [verified = std::move(verified)](const CodeColumn& codes, std::span<const std::uint32_t> rows,
                                       int threshold, const EdgeSink& sink) {
        links_of(std::span(verified->edges))(codes, rows, threshold, sink);
      };
}

}  // namespace winnow::dedup
