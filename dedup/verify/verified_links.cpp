#include "dedup/verify/verified_links.h"

#include <algorithm>
#include <utility>

#include "dedup/verify/transformation.h"

namespace winnow::dedup {
namespace {

// Pairs that are near by codes; sorted.
std::vector<Edge> near_by_codes(const ColumnSource& columns, const Options& options,
                                const LinkSource& links, std::span<const std::uint32_t> rows) {
  if (options.hash == kExact) return {};
  std::vector<Edge> near;
  const Fingerprints table = columns({"codes:" + options.hash});
  find_links(table, options, links, rows, [&](std::span<const Edge> edges) {
    near.insert(near.end(), edges.begin(), edges.end());
  });
  std::ranges::sort(near);
  return near;
}

// Pairs that were left out tell nothing of those that are left.
void leave_uncounted(std::span<const VerifiedPair> look_alikes, std::span<const Edge> near,
                     Verification& verification) {
  for (const VerifiedPair& pair : look_alikes) {
    if (!is_among(near, pair)) {
      verification.far_scores.take_away(pair.probability);
    } else if (!pair.lacks_details) {
      verification.near_scores.take_away(pair.probability);
    }
  }
}

}  // namespace

VerifiedLinks verify_links(const ColumnSource& columns, const ThumbnailSource& thumbnails,
                           const Options& options, const LinkSource& links,
                           const VerifyOptions& how) {
  const PictureSource pictures = pictures_of(columns({"widths_px", "heights_px"}), thumbnails);
  const std::vector<std::uint32_t> rows =
      matchable_rows(columns({"quality"}), options.hash, options.matching.least_quality);
  const std::vector<Edge> near = near_by_codes(columns, options, links, rows);
  VerifiedLinks out;
  out.calibration = calibrate(rows, pictures, /*seed=*/0, how.search.stop);
  VerifyOptions with_doubtful = how;
  if (how.closer) with_doubtful.least_probability = std::min(how.least_probability, kLeastDoubtful);
  out.verification = verify(rows, pictures, near, out.calibration.model, with_doubtful);
  LookedCloser looked = look_closer(out.verification.pairs, pictures, how.closer, how.search.stop);
  leave_uncounted(looked.look_alikes, near, out.verification);
  out.looked_closer = looked.compared;
  out.look_alikes = std::move(looked.look_alikes);
  const Fingerprints labelled = columns({"labels"});
  out.kept = leave_out_false({out.calibration, near, &labelled.labels},
                             {how.least_probability, how.most_false}, out.verification);
  for (const VerifiedPair& pair : out.verification.pairs) {
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
  const std::vector<VerifiedPair>& pairs = verified.verification.pairs;
  const auto rows = [](const VerifiedPair& pair) { return std::pair(pair.row_a, pair.row_b); };
  const auto wanted = std::pair(std::min(row, other), std::max(row, other));
  const auto at = std::ranges::lower_bound(pairs, wanted, {}, rows);
  return at != pairs.end() && rows(*at) == wanted ? &*at : nullptr;
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
