#include "dedup/audit/issues.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "common/error.h"
#include "dedup/deduplicate.h"
#include "dedup/policy/policy.h"

namespace winnow::dedup {
namespace {

using Scores = std::vector<float>;
constexpr float kGood = 1.0F;

std::vector<Measures> measures_of(const ColumnSource& columns) {
  Fingerprints table = columns({"audit"});
  if (table.audit.size() != table.size()) {
    throw UsageError(
        "these images were ingested before winnow audited them, or some of them; ingest them into "
        "a new cache to have the audit");
  }
  return std::move(table.audit);
}

Scores by_measures(const ColumnSource& columns, float (*score)(const Measures&)) {
  const std::vector<Measures> measures = measures_of(columns);
  Scores scores(measures.size());
  std::ranges::transform(measures, scores.begin(), score);
  return scores;
}

float saturating(double deviation) {  // cleanvision's, of normalizing_factor 0.01
  return static_cast<float>(1 - std::exp(-0.01 * deviation));
}

// cleanvision's: strong edges are sharp, and so is a histogram of few values that says enough.
float sharp_enough(const Measures& m) {
  constexpr float kTellingHistogram = 0.18F;
  const float histogram = saturating(m.histogram);
  return std::min(1.0F, saturating(m.edges) + (histogram > kTellingHistogram ? histogram : 0.0F));
}

// numpy.percentile of ascending values.
double percentile(std::span<const double> ascending, double share) {
  const double rank = share * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  return ascending[below] +
         (rank - static_cast<double>(below)) * (ascending[above] - ascending[below]);
}

// cleanvision's: how far a picture's side, the root of its area, is from the middle of the usual
// ones, which reach three interquartile ranges beyond the quartiles, in their whole range. Where
// all usual ones are equal, every other one is odd.
Scores by_size(const ColumnSource& columns) {
  const Fingerprints table = columns({"widths_px", "heights_px"});
  if (table.size() == 0) return {};
  std::vector<double> sides(table.size());
  std::ranges::transform(
      table.widths_px, table.heights_px, sides.begin(),
      [](double width, double height) { return std::sqrt(width) * std::sqrt(height); });
  std::vector<double> ascending = sides;
  std::ranges::sort(ascending);
  const double low = percentile(ascending, 0.25);
  const double high = percentile(ascending, 0.75);
  const double middle = (low + high) / 2;
  const double range = 7 * (high - low);
  Scores scores(sides.size());
  std::ranges::transform(sides, scores.begin(), [&](double side) {
    const double off = std::abs(side - middle);
    if (range > 0) return static_cast<float>(1 - std::min(1.0, off / range));
    return off > 0 ? static_cast<float>(0.49 * (1 - std::min(1.0, off / middle))) : kGood;
  });
  return scores;
}

Scores by_sides(const ColumnSource& columns, float (*score)(float shorter, float longer)) {
  const Fingerprints table = columns({"widths_px", "heights_px"});
  Scores scores(table.size());
  std::ranges::transform(table.widths_px, table.heights_px, scores.begin(),
                         [&](std::uint32_t width, std::uint32_t height) {
                           return score(static_cast<float>(std::min(width, height)),
                                        static_cast<float>(std::max(width, height)));
                         });
  return scores;
}

// What half of the pictures are is how this set is, and no issue.
Scores unless_usual(Issue issue, Scores scores) {
  const float threshold = row_of(issue).threshold;
  const auto low = std::ranges::count_if(scores, [&](float x) { return x < threshold; });
  if (2 * static_cast<std::size_t>(low) >= scores.size()) std::ranges::fill(scores, kGood);
  return scores;
}

// Rows that `less` puts in no order beside each other are a group: `take` is given each of two or
// more, ascending.
void for_each_equal(std::vector<std::uint32_t> rows, const auto& less, const auto& take) {
  std::ranges::stable_sort(rows, less);
  for (auto begin = rows.begin(); begin != rows.end();) {
    const auto end =
        std::find_if(begin, rows.end(), [&](std::uint32_t r) { return less(*begin, r); });
    if (end - begin > 1) take(std::span<const std::uint32_t>(begin, end));
    begin = end;
  }
}

std::vector<std::uint32_t> all_rows(std::size_t count) {
  std::vector<std::uint32_t> rows(count);
  std::iota(rows.begin(), rows.end(), 0u);
  return rows;
}

void for_each_exact(const ColumnSource& columns, const auto& take) {
  for (const char* name : {"file_hashes", "pixel_hashes"}) {
    const Fingerprints table = columns({name});
    const auto& hashes = table.file_hashes.empty() ? table.pixel_hashes : table.file_hashes;
    for_each_equal(
        all_rows(hashes.size()),
        [&](std::uint32_t a, std::uint32_t b) { return hashes[a] < hashes[b]; }, take);
  }
}

// Of rows with enough in them to match by codes.
void for_each_near(const ColumnSource& columns, const std::string& hash, const auto& take) {
  if (hash.empty()) return;
  const Fingerprints table = columns({"codes:" + hash, "quality"});
  const CodeColumn* const codes = table.find_codes(hash);
  if (codes == nullptr) return;
  for_each_equal(
      matchable_rows(table, hash),
      [&](std::uint32_t a, std::uint32_t b) {
        return std::ranges::lexicographical_compare(codes->code(a), codes->code(b));
      },
      take);
}

Scores by_equality(const ColumnSource& columns) {
  Scores scores(columns({}).size(), kGood);
  for_each_exact(columns, [&](std::span<const std::uint32_t> rows) {
    for (const std::uint32_t row : rows) scores[row] = 0;
  });
  return scores;
}

// Near: of equal codes, and not all of equal pixels.
Scores by_nearness(const ColumnSource& columns, const std::string& hash) {
  const std::vector<Hash128> pixels = columns({"pixel_hashes"}).pixel_hashes;
  Scores scores(pixels.size(), kGood);
  for_each_near(columns, hash, [&](std::span<const std::uint32_t> rows) {
    const auto is_other = [&](std::uint32_t row) { return pixels[row] != pixels[rows.front()]; };
    if (std::ranges::none_of(rows, is_other)) return;
    for (const std::uint32_t row : rows) scores[row] = 0;
  });
  return scores;
}

Scores by_labels(const ColumnSource& columns, const std::string& hash) {
  const Ragged<std::int32_t> labels = columns({"labels"}).labels;
  Scores scores(labels.size(), kGood);
  const auto judge = [&](std::span<const std::uint32_t> rows) {
    if (!labels_differ(labels, rows)) return;
    for (const std::uint32_t row : rows) scores[row] = 0;
  };
  for_each_exact(columns, judge);
  for_each_near(columns, hash, judge);
  return scores;
}

}  // namespace

std::vector<float> issue_scores(Issue issue, const ColumnSource& columns, const std::string& hash) {
  switch (issue) {
    case Issue::kDark:
      return by_measures(columns, [](const Measures& m) { return m.brightness_99; });
    case Issue::kBright:
      return by_measures(columns, [](const Measures& m) { return 1 - m.brightness_5; });
    case Issue::kOverExposed:
      return by_measures(columns, [](const Measures& m) { return std::max(0.0F, 1 - m.white); });
    case Issue::kBlurry:
      return by_measures(columns, sharp_enough);
    case Issue::kLowInformation:
      return by_measures(columns,
                         [](const Measures& m) { return std::min(1.0F, 0.1F * m.entropy); });
    case Issue::kGray:
      return unless_usual(issue, by_measures(columns, [](const Measures& m) { return m.colour; }));
    case Issue::kOddSize:
      return by_size(columns);
    case Issue::kOddShape:
      return by_sides(columns, [](float shorter, float longer) { return shorter / longer; });
    case Issue::kTiny:
      return unless_usual(issue, by_sides(columns, [](float shorter, float) {
                            return std::min(1.0F, shorter / 64);
                          }));
    case Issue::kTurned:
      return by_measures(columns,
                         [](const Measures& m) { return m.orientation > 1 ? 0.0F : kGood; });
    case Issue::kExactDuplicate:
      return by_equality(columns);
    case Issue::kNearDuplicate:
      return by_nearness(columns, hash);
    case Issue::kLabelConflict:
      break;
  }
  return by_labels(columns, hash);
}

std::vector<IssueSet> find_issues(IssueSet wanted, const ColumnSource& columns,
                                  const std::string& hash) {
  std::vector<IssueSet> issues(columns({}).size());
  for (const IssueRow& row : issue_rows()) {
    if (!wanted.has(row.issue)) continue;
    const Scores scores = issue_scores(row.issue, columns, hash);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (scores[i] < row.threshold) issues[i].add(row.issue);
    }
  }
  return issues;
}

std::vector<IssuePicture> issue_pictures(std::vector<std::uint32_t> rows,
                                         const std::vector<IssueSet>& of_row,
                                         const ColumnSource& columns, const std::string& hash) {
  std::vector<IssuePicture> pictures;
  {
    const std::vector<Hash128> files = columns({"file_hashes"}).file_hashes;
    std::ranges::sort(rows, {}, [&](std::uint32_t row) { return std::pair(files[row], row); });
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i == 0 || files[rows[i]] != files[rows[i - 1]]) pictures.emplace_back();
      pictures.back().rows.push_back(rows[i]);
    }
  }
  for (const IssueRow& row : issue_rows()) {
    const auto has = [&](const IssuePicture& picture) {
      return !of_row.empty() && of_row[picture.rows.front()].has(row.issue);
    };
    if (std::ranges::none_of(pictures, has)) continue;
    const Scores scores = issue_scores(row.issue, columns, hash);
    for (IssuePicture& picture : pictures) {
      if (has(picture)) picture.scores.push_back({row.issue, scores[picture.rows.front()]});
    }
  }
  std::ranges::sort(pictures, {}, [](const IssuePicture& picture) {
    const bool none = picture.scores.empty();
    return std::tuple(none, none ? Issue{} : picture.scores.front().issue,
                      none ? kGood : picture.scores.front().score, picture.rows.front());
  });
  return pictures;
}

std::array<std::uint64_t, kIssueCount> count_issues(const std::vector<IssueSet>& of_row) noexcept {
  std::array<std::uint64_t, kIssueCount> counts{};
  for (const IssueSet& issues : of_row) {
    for (const IssueRow& row : issue_rows()) {
      counts[static_cast<std::size_t>(row.issue)] += issues.has(row.issue) ? 1 : 0;
    }
  }
  return counts;
}

bool is_audited(const ColumnSource& columns) {
  const Fingerprints table = columns({"audit"});
  return table.audit.size() == table.size();
}

}  // namespace winnow::dedup
