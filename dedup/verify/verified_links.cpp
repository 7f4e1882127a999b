#include "dedup/verify/verified_links.h"

#include <algorithm>
#include <utility>

#include "dedup/verify/label_evidence.h"
#include "dedup/verify/look_alikes.h"
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

// Pairs that were laid upon each other and are no copies.
double strangers_of(const Verification& verification) {
  return static_cast<double>(verification.counts.registered) -
         static_cast<double>(verification.pairs.size());
}

// How probable pairs must be, at least `least`, for no more than `most_false` strangers to be among
// them. The more it asks for, the more strangers there are.
double enough(const Verification& verification, const Calibration& calibration, double least,
              double most_false) {
  for (;;) {
    const auto verified = std::ranges::count_if(
        verification.pairs, [&](const VerifiedPair& pair) { return pair.probability >= least; });
    const double strangers =
        static_cast<double>(verification.counts.registered) - static_cast<double>(verified);
    const double more = calibration.least_probability(strangers, most_false);
    if (more <= least) return least;
    least = more;
  }
}

bool is_among(std::span<const Edge> sorted, const VerifiedPair& pair) {
  const auto rows = [](const Edge& edge) { return std::pair(edge.a, edge.b); };
  return std::ranges::binary_search(sorted, std::pair(pair.row_a, pair.row_b), {}, rows);
}

// Leaves out what is less probable, or leaves it to the codes.
void keep_probable(const LeastProbability& least, std::span<const Edge> near,
                   Verification& verification) {
  const auto is_too_doubtful = [&](const VerifiedPair& pair) {
    if (is_among(near, pair)) return pair.probability < least.near;
    return !least.far || pair.probability < *least.far;
  };
  for (const VerifiedPair& pair : verification.pairs) {
    if (!is_too_doubtful(pair) || !pair.lacks_details) continue;
    verification.undecided.push_back({pair.row_a, pair.row_b, 0});
  }
  std::erase_if(verification.pairs, is_too_doubtful);
  std::ranges::sort(verification.undecided);
  verification.counts.verified = verification.pairs.size();
}

std::vector<double> far_probabilities(const Verification& verification,
                                      std::span<const Edge> near) {
  std::vector<double> far;
  for (const VerifiedPair& pair : verification.pairs) {
    if (!is_among(near, pair)) far.push_back(pair.probability);
  }
  return far;
}

// Asks for more until few pairs are expected to be false, and leaves out what is less probable.
void leave_out_false(const Ragged<std::int32_t>& labels, std::span<const Edge> near,
                     double most_false, VerifiedLinks& out) {
  Verification& verification = out.verification;
  LeastProbability& least = out.least;
  least.near = enough(verification, out.calibration, least.near, most_false);
  least.far = least.near;
  keep_probable(least, near, verification);
  out.expected_false = out.calibration.expected_false(strangers_of(verification), least.near);
  const std::optional<double>& copies = out.calibration.copies;
  if (const auto look_alikes =
          copies ? find_look_alikes(verification.far_scores, *copies) : std::nullopt) {
    const std::vector<double> far = far_probabilities(verification, near);
    least.far = probable_beside(*look_alikes, far, least.near, most_false);
    least.raised_by_look_alikes = !least.far || *least.far > least.near;
    if (least.far) {
      out.expected_false = std::max(out.expected_false, look_alikes->expected(*least.far));
    }
    keep_probable(least, near, verification);
  }
  const double by_labels = probable_by_labels(verification.pairs, labels, least.near);
  least.raised_by_labels = by_labels > least.near;
  least.near = by_labels;
  if (least.far) least.far = std::max(*least.far, by_labels);
  keep_probable(least, near, verification);
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
  out.least = {.near = how.least_probability, .far = how.least_probability};
  out.calibration = calibrate(rows, pictures, /*seed=*/0, how.search.stop);
  VerifyOptions with_doubtful = how;
  if (how.closer) with_doubtful.least_probability = std::min(how.least_probability, kLeastDoubtful);
  out.verification = verify(rows, pictures, near, out.calibration.model, with_doubtful);
  if (how.closer) {
    out.looked_closer = look_closer(out.verification.pairs, how.closer, how.search.stop);
  }
  if (how.most_false) {
    leave_out_false(columns({"labels"}).labels, near, *how.most_false, out);
  } else {
    keep_probable(out.least, near, out.verification);
    out.expected_false =
        out.calibration.expected_false(strangers_of(out.verification), how.least_probability);
  }
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

LinkSource links_of(std::shared_ptr<const VerifiedLinks> verified) {
  return [verified = std::move(verified)](const CodeColumn& codes,
                                          std::span<const std::uint32_t> rows, int threshold,
                                          const EdgeSink& sink) {
    std::vector<Edge> edges;
    for (const Edge& edge : verified->edges) {
      if (!std::ranges::binary_search(rows, edge.a) || !std::ranges::binary_search(rows, edge.b)) {
        continue;
      }
      const int bits = std::min(threshold, row_distance(codes, edge.a, edge.b));
      edges.push_back({edge.a, edge.b, static_cast<std::uint32_t>(bits)});
    }
    sink(edges);
  };
}

}  // namespace winnow::dedup
