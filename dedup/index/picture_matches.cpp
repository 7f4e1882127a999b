#include "dedup/index/picture_matches.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "dedup/index/fitted.h"
#include "dedup/index/open_index_internal.h"
#include "dedup/verify/query.h"

namespace winnow::dedup {
namespace {

// A row of the table and one of the index, and the probability that they show one picture.
using Pair = std::pair<std::uint32_t, std::uint32_t>;
using FoundPairs = std::map<Pair, std::optional<float>>;

// Adds all pairs of equal hashes.
void take_equal(const std::vector<Hash128>& asked, const std::vector<Hash128>& known,
                FoundPairs& found) {
  std::map<Hash128, std::vector<std::uint32_t>> rows_of;
  for (std::uint32_t row = 0; row < asked.size(); ++row) rows_of[asked[row]].push_back(row);
  for (std::uint32_t row = 0; row < known.size(); ++row) {
    const auto at = rows_of.find(known[row]);
    if (at == rows_of.end()) continue;
    for (const std::uint32_t of_asked : at->second) found[{of_asked, row}] = 1.0F;
  }
}

// Pairs of near codes, as input of PictureQuery.
std::vector<Edge> near_pairs(const CodeColumn& known, const EqualPixels& of_known,
                             const CodeColumn& asked, const EqualPixels& of_asked,
                             const PictureMatchOptions& options) {
  std::vector<Edge> near;
  find_edges_between(
      {asked, of_asked.firsts()}, {known, of_known.firsts()}, options.threshold,
      [&](std::span<const Edge> edges) {
        for (const Edge& edge : edges) near.push_back({edge.b, edge.a, edge.distance});
      },
      options.search);
  std::ranges::sort(near);
  return near;
}

// Pictures of an index and of a table; rows of the table follow those of the index.
struct BothPictures {
  std::uint32_t rows;  // number of rows of the index
  PictureSource known, asked;
  CloserSource closer_known, closer_asked;
};

// Looks closer at pairs of a row of the index and one of the table.
LookedCloser look_closer_at(std::vector<VerifiedPair>& pairs, const BothPictures& both,
                            const StopRequested& stop) {
  for (VerifiedPair& pair : pairs) pair.row_b += both.rows;
  CloserSource closer;
  if (both.closer_known && both.closer_asked) {
    const CloserSource& known = both.closer_known;
    const CloserSource& asked = both.closer_asked;
    closer.gray = of_both(known.gray, asked.gray, both.rows);
    if (known.colours && asked.colours) {
      closer.colours = of_both(known.colours, asked.colours, both.rows);
    }
  }
  LookedCloser looked =
      look_closer(pairs, of_both(both.known, both.asked, both.rows), closer, stop);
  for (VerifiedPair& pair : pairs) pair.row_b -= both.rows;
  for (VerifiedPair& pair : looked.look_alikes) pair.row_b -= both.rows;
  return looked;
}

std::uint64_t count_refused(std::span<const Edge> near, const Verification& verification) {
  std::uint64_t stay = verification.undecided.size();
  for (const VerifiedPair& pair : verification.pairs) stay += is_among(near, pair) ? 1 : 0;
  return near.size() - stay;
}

}  // namespace

EqualPixels::EqualPixels(const std::vector<Hash128>& pixel_hashes,
                         std::span<const std::uint32_t> rows)
    : copies_(equal_edges(pixel_hashes, rows)) {
  std::vector<std::uint32_t> others;
  for (const Edge& edge : copies_) others.push_back(edge.b);
  std::ranges::sort(others);
  std::ranges::set_difference(rows, others, std::back_inserter(firsts_));
}

std::vector<std::uint32_t> EqualPixels::rows_like(std::uint32_t first) const {
  std::vector<std::uint32_t> rows{first};
  auto edge = std::ranges::lower_bound(copies_, first, {}, &Edge::a);
  for (; edge != copies_.end() && edge->a == first; ++edge) rows.push_back(edge->b);
  return rows;
}

PictureMatcher::PictureMatcher(const StoredIndex& index, PictureMatchOptions options)
    : index_(index), options_(std::move(options)) {
  index_.check_quality(options_.least_quality);
  const ColumnSource columns = index_.columns();
  const std::string& hash = index_.kind().hash;
  const std::vector<std::uint32_t> rows =
      matchable_rows(columns({"quality"}), hash, options_.least_quality);
  equal_ = EqualPixels(columns({"pixel_hashes"}).pixel_hashes, rows);
  landmarks_ = index_.landmarks(equal_.firsts(), options_.search);
  table_ = columns({codes_name(index_.kind())});
  if (rows.empty()) return;
  pictures_ = pictures_of(columns({"widths_px", "heights_px"}), index_.thumbnails());
  calibration_ = options_.least_quality
                     ? calibrate(rows, pictures_, /*seed=*/0, options_.search.stop)
                     : index_.fitted(options_.search.stop).calibration;
  query_ =
      std::make_unique<PictureQuery>(std::move(*landmarks_.known), pictures_,
                                     static_cast<std::uint32_t>(table_.size()), calibration_.model);
}

PictureMatcher::PictureMatcher(PictureMatcher&&) noexcept = default;
PictureMatcher::~PictureMatcher() = default;

PictureMatches PictureMatcher::find(const ColumnSource& source, const ThumbnailSource& thumbnails,
                                    const CloserSource& closer) {
  const std::string& hash = index_.kind().hash;
  PictureMatches out;
  FoundPairs found;
  const Fingerprints asked = source({codes_name(index_.kind()), "quality"});
  const CodeColumn& codes = comparable_codes(asked, index_.kind(), "what is looked for");
  check_threshold(codes, options_.threshold);
  if (query_) {
    const EqualPixels equal(source({"pixel_hashes"}).pixel_hashes,
                            matchable_rows(asked, hash, options_.least_quality));
    const std::vector<Edge> near = near_pairs(table_.codes.front(), equal_, codes, equal, options_);
    const PictureSource pictures = pictures_of(source({"widths_px", "heights_px"}), thumbnails);
    Verification verification = query_->ask(
        equal.firsts(), pictures, near,
        {.least_probability = options_.demand.least_probability, .search = options_.search});
    const auto rows = static_cast<std::uint32_t>(table_.size());
    LookedCloser looked =
        look_closer_at(verification.pairs, {rows, pictures_, pictures, options_.closer, closer},
                       options_.search.stop);
    leave_uncounted(looked.look_alikes, near, verification);
    out.look_alikes = looked.look_alikes.size();
    out.looked_closer = looked.compared;
    out.kept = leave_out_false({calibration_, near}, options_.demand, verification);
    const auto take = [&](std::uint32_t known, std::uint32_t of_asked,
                          std::optional<float> probability) {
      for (const std::uint32_t row : equal.rows_like(of_asked)) {
        for (const std::uint32_t in_index : equal_.rows_like(known)) {
          found[{row, in_index}] = probability;
        }
      }
    };
    for (const VerifiedPair& pair : verification.pairs) {
      take(pair.row_a, pair.row_b, pair.probability);
    }
    for (const Edge& edge : verification.undecided) take(edge.a, edge.b, std::nullopt);
    out.counts = verification.counts;
    out.refused = count_refused(near, verification);
    out.undecided = verification.undecided.size();
  }
  FoundPairs same;
  take_equal(source({"file_hashes"}).file_hashes, index_.columns()({"file_hashes"}).file_hashes,
             same);
  take_equal(source({"pixel_hashes"}).pixel_hashes, index_.columns()({"pixel_hashes"}).pixel_hashes,
             same);
  for (const auto& [rows, probability] : same) found[rows] = probability;
  for (const auto& [rows, probability] : found) {
    const int bits = same.contains(rows) ? 0
                                         : code_distance(codes.code(rows.first),
                                                         table_.codes.front().code(rows.second),
                                                         codes.orientations);
    out.matches.push_back(
        {rows.first, table_.ids[rows.second], static_cast<std::uint32_t>(bits), probability});
  }
  std::ranges::stable_sort(out.matches, {}, [](const PictureMatch& match) {
    return std::pair(match.row, -match.probability.value_or(0));
  });
  return out;
}

}  // namespace winnow::dedup
