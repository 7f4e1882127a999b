#include "dedup/verify/verified_pairs.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "dedup/table/column_file.h"

namespace winnow::dedup {
namespace {

constexpr FileKind kPairsKind{"WNWVPAIR", 2, "file of verified pairs"};

static_assert(sizeof(Affine) == 6 * sizeof(double));

bool is_good(const Affine& map) {
  const auto numbers = {map.xx, map.xy, map.x0, map.yx, map.yy, map.y0};
  return std::ranges::all_of(numbers, [](double one) { return std::isfinite(one); }) &&
         map.determinant() != 0;
}

std::uint32_t row_of(SampleId id, std::span<const SampleId> ids) {
  const auto at = std::ranges::lower_bound(ids, id);
  if (at == ids.end() || *at != id) {
    throw FormatError("the stored pairs name sample " + std::to_string(id) +
                      ", which is not among the images");
  }
  return static_cast<std::uint32_t>(at - ids.begin());
}

// Refuses what the writer cannot have made.
void check(const VerifiedPairs& pairs, const ColumnFileReader& in) {
  const auto is_share = [](double value) { return value >= 0 && value <= 1; };
  if (!is_share(pairs.least_probability)) in.fail("the smallest probability is not from 0 to 1");
  if (pairs.expected_false && !(*pairs.expected_false >= 0 && std::isfinite(*pairs.expected_false)))
    in.fail("the expected number of false pairs is negative or not finite");
  for (std::size_t i = 0; i < pairs.first.size(); ++i) {
    if (pairs.first[i] >= pairs.second[i])
      in.fail("the second sample of a pair is not above the first");
    if (!is_share(double{pairs.probability[i]}))
      in.fail("the probability of a pair is not from 0 to 1");
    if (i > 0 && std::pair(pairs.first[i - 1], pairs.second[i - 1]) >=
                     std::pair(pairs.first[i], pairs.second[i])) {
      in.fail("the pairs do not ascend");
    }
  }
  if (!std::ranges::all_of(pairs.map, is_good))
    in.fail("the affine transform of a pair is not finite or cannot be inverted");
}

}  // namespace

std::optional<double> VerifiedPairs::precision() const noexcept {
  const auto decided =
      static_cast<double>(std::ranges::count_if(probability, [](float one) { return one > 0; }));
  if (!expected_false || decided == 0) return std::nullopt;
  return std::max(0.0, 1 - *expected_false / decided);
}

VerifiedPairs pairs_of(const VerifiedLinks& verified, const Options& options,
                       std::span<const SampleId> ids) {
  VerifiedPairs out{.cache_digest = {},
                    .hash = options.hash,
                    .threshold = static_cast<std::uint32_t>(options.threshold),
                    .least_probability = verified.kept.least.near};
  if (!verified.kept.least.raised_by_labels) out.expected_false = verified.kept.expected_false;
  for (const Edge& edge : verified.edges) {  // sorted by rows, hence by ids
    const VerifiedPair* const told = find_pair(verified, edge.a, edge.b);
    out.first.push_back(ids[edge.a]);
    out.second.push_back(ids[edge.b]);
    out.probability.push_back(told == nullptr ? 0 : told->probability);
    out.map.push_back(told == nullptr ? Affine() : told->map);
  }
  return out;
}

std::shared_ptr<const VerifiedLinks> verified_of(const VerifiedPairs& pairs,
                                                 std::span<const SampleId> ids) {
  auto verified = std::make_shared<VerifiedLinks>();
  for (std::size_t i = 0; i < pairs.first.size(); ++i) {
    const Edge edge{row_of(pairs.first[i], ids), row_of(pairs.second[i], ids), 0};
    verified->edges.push_back(edge);
    if (pairs.map.empty() || !(pairs.probability[i] > 0)) continue;
    verified->verification.pairs.push_back({.row_a = edge.a,
                                            .row_b = edge.b,
                                            .probability = pairs.probability[i],
                                            .map = pairs.map[i]});
  }
  return verified;
}

Options options_of(const VerifiedPairs& pairs) {
  return {.hash = pairs.hash,
          .threshold = static_cast<int>(pairs.threshold),
          .matching = {.verified = pairs.least_probability}};
}

void write_verified_pairs(const std::filesystem::path& path, const VerifiedPairs& pairs) {
  std::vector<double> expected_false;
  if (pairs.expected_false) expected_false.push_back(*pairs.expected_false);
  const std::vector<ColumnView> columns{
      column("cache_digest", std::span<const char>(pairs.cache_digest)),
      column("hash", std::span<const char>(pairs.hash)),
      column("threshold", std::span(&pairs.threshold, 1)),
      column("least_probability", std::span(&pairs.least_probability, 1)),
      column("expected_false", std::span<const double>(expected_false)),
      column("first", std::span<const SampleId>(pairs.first)),
      column("second", std::span<const SampleId>(pairs.second)),
      column("probability", std::span<const float>(pairs.probability)),
      column("map", std::span<const Affine>(pairs.map))};
  write_file_durably(path, column_file(kPairsKind, pairs.first.size(), columns));
}

VerifiedPairs read_verified_pairs(const std::filesystem::path& path) {
  const InputFile file(path);
  ColumnFileReader in(file, kPairsKind, ColumnFileReader::Content::kUnknown);
  VerifiedPairs out{.cache_digest = in.take_text("cache_digest"),
                    .hash = in.take_text("hash"),
                    .threshold = in.take<std::uint32_t>("threshold", 1).front(),
                    .least_probability = in.take<double>("least_probability", 1).front()};
  const std::vector<double> expected_false = in.take<double>("expected_false", std::nullopt);
  if (expected_false.size() > 1) in.fail("it has several expected numbers of false pairs");
  if (!expected_false.empty()) out.expected_false = expected_false.front();
  out.first = in.take<SampleId>("first", in.rows());
  out.second = in.take<SampleId>("second", in.rows());
  out.probability = in.take<float>("probability", in.rows());
  if (in.version() > 1) out.map = in.take<Affine>("map", in.rows());
  in.finish();
  check(out, in);
  return out;
}

}  // namespace winnow::dedup
