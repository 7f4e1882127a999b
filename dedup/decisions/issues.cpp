#include "dedup/decisions/issues.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "common/error.h"
#include "dedup/decisions/deduplicate.h"
#include "dedup/policy/policy.h"

namespace winnow::dedup {
namespace {

using Scores = std::vector<float>;
constexpr float kGood = 1.0F;

std::vector<Measures> measures_of(const ColumnSource& columns) {
  Fingerprints table = columns({"audit"});
  if (table.audit.size() != table.size()) {
    throw UsageError(
        "these images, or some of them, were ingested without an audit; ingest them into a new "
        "cache to get one");
  }
  return std::move(table.audit);
}

Scores by_measures(const std::vector<Measures>& measures, float (*score)(const Measures&)) {
  Scores scores(measures.size());
  std::ranges::transform(measures, scores.begin(), score);
  return scores;
}

float saturating(double deviation) {  // cleanvision's formula, with normalizing_factor 0.01
  return static_cast<float>(1 - std::exp(-0.01 * deviation));
}

// cleanvision's rule: strong edges are sharp, and so is a histogram of few values with enough
// information.
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

// cleanvision's score: the distance of a picture's side (the root of its area) from the middle of
// the usual range, relative to that range, which extends three interquartile ranges beyond the
// quartiles. If all usual sides are equal, every other one is odd.
Scores by_size(const Fingerprints& table) {
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

Scores by_sides(const Fingerprints& table, float (*score)(float shorter, float longer)) {
  Scores scores(table.size());
  std::ranges::transform(table.widths_px, table.heights_px, scores.begin(),
                         [&](std::uint32_t width, std::uint32_t height) {
                           return score(static_cast<float>(std::min(width, height)),
                                        static_cast<float>(std::max(width, height)));
                         });
  return scores;
}

// A property of half of the pictures is normal for this set, not an issue.
Scores unless_usual(Issue issue, Scores scores) {
  const float threshold = row_of(issue).threshold;
  const auto low = std::ranges::count_if(scores, [&](float x) { return x < threshold; });
  if (2 * static_cast<std::size_t>(low) >= scores.size()) std::ranges::fill(scores, kGood);
  return scores;
}

// Calls `take` with each group of two or more rows, ascending, that `less` does not distinguish.
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

// Passes on the requested scores in the order of Issue. So do the next two functions.
void score_measures(IssueSet wanted, const std::vector<Measures>& measures, const ScoreSink& take) {
  const auto score = [&](Issue issue, float (*of_one)(const Measures&)) {
    if (wanted.has(issue)) take(row_of(issue), by_measures(measures, of_one));
  };
  score(Issue::kDark, [](const Measures& m) { return m.brightness_99; });
  score(Issue::kBright, [](const Measures& m) { return 1 - m.brightness_5; });
  score(Issue::kOverExposed, [](const Measures& m) { return std::max(0.0F, 1 - m.white); });
  score(Issue::kBlurry, sharp_enough);
  score(Issue::kLowInformation, [](const Measures& m) { return std::min(1.0F, 0.1F * m.entropy); });
  if (wanted.has(Issue::kGray)) {
    const auto colour = [](const Measures& m) { return m.colour; };
    take(row_of(Issue::kGray), unless_usual(Issue::kGray, by_measures(measures, colour)));
  }
}

void score_sides(IssueSet wanted, const Fingerprints& table, const ScoreSink& take) {
  if (wanted.has(Issue::kOddSize)) take(row_of(Issue::kOddSize), by_size(table));
  if (wanted.has(Issue::kOddShape)) {
    const auto shape = [](float shorter, float longer) { return shorter / longer; };
    take(row_of(Issue::kOddShape), by_sides(table, shape));
  }
  if (wanted.has(Issue::kTiny)) {
    const auto size = [](float shorter, float) { return std::min(1.0F, shorter / 64); };
    take(row_of(Issue::kTiny), unless_usual(Issue::kTiny, by_sides(table, size)));
  }
}

// Groups of near rows, among those with enough quality to match by codes.
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

// Exact: equal files or pixels. Near: equal codes, but not all of equal pixels. Conflict: either of
// these with different labels.
void score_equality(IssueSet wanted, const ColumnSource& columns, const std::string& hash,
                    const ScoreSink& take) {
  const bool judges = wanted.has(Issue::kLabelConflict);
  const Ragged<std::int32_t> labels = judges ? columns({"labels"}).labels : Ragged<std::int32_t>();
  Scores exact(columns({}).size(), kGood);
  Scores near = exact;
  Scores conflict = exact;
  const auto mark = [](std::span<const std::uint32_t> rows, Scores& scores) {
    for (const std::uint32_t row : rows) scores[row] = 0;
  };
  const auto judge = [&](std::span<const std::uint32_t> rows) {
    if (judges && labels_differ(labels, rows)) mark(rows, conflict);
  };
  const auto mark_equal = [&](const std::vector<Hash128>& hashes) {
    for_each_equal(
        all_rows(hashes.size()),
        [&](std::uint32_t a, std::uint32_t b) { return hashes[a] < hashes[b]; },
        [&](std::span<const std::uint32_t> rows) {
          mark(rows, exact);
          judge(rows);
        });
  };
  const bool by_bytes = judges || wanted.has(Issue::kExactDuplicate);
  if (by_bytes) mark_equal(columns({"file_hashes"}).file_hashes);
  const std::vector<Hash128> pixels = columns({"pixel_hashes"}).pixel_hashes;
  if (by_bytes) mark_equal(pixels);
  if (wanted.has(Issue::kExactDuplicate)) take(row_of(Issue::kExactDuplicate), exact);
  if (!judges && !wanted.has(Issue::kNearDuplicate)) return;
  for_each_near(columns, hash, [&](std::span<const std::uint32_t> rows) {
    const auto is_other = [&](std::uint32_t row) { return pixels[row] != pixels[rows.front()]; };
    if (std::ranges::any_of(rows, is_other)) mark(rows, near);
    judge(rows);
  });
  if (wanted.has(Issue::kNearDuplicate)) take(row_of(Issue::kNearDuplicate), near);
  if (judges) take(row_of(Issue::kLabelConflict), conflict);
}

}  // namespace

void for_each_issue(IssueSet wanted, const ColumnSource& columns, const std::string& hash,
                    const ScoreSink& take) {
  using enum Issue;
  const auto wants = [&](std::initializer_list<Issue> some) {
    return std::ranges::any_of(some, [&](Issue issue) { return wanted.has(issue); });
  };
  Scores turned;  // passed on after the sides
  if (wants({kDark, kBright, kOverExposed, kBlurry, kLowInformation, kGray, kTurned})) {
    const std::vector<Measures> measures = measures_of(columns);
    score_measures(wanted, measures, take);
    turned =
        by_measures(measures, [](const Measures& m) { return m.orientation > 1 ? 0.0F : kGood; });
  }
  if (wants({kOddSize, kOddShape, kTiny})) {
    score_sides(wanted, columns({"widths_px", "heights_px"}), take);
  }
  if (wanted.has(kTurned)) take(row_of(kTurned), turned);
  if (wants({kExactDuplicate, kNearDuplicate, kLabelConflict})) {
    score_equality(wanted, columns, hash, take);
  }
}

std::vector<IssueSet> find_issues(IssueSet wanted, const ColumnSource& columns,
                                  const std::string& hash) {
  std::vector<IssueSet> issues(columns({}).size());
  for_each_issue(wanted, columns, hash, [&](const IssueRow& row, const Scores& scores) {
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (scores[i] < row.threshold) issues[i].add(row.issue);
    }
  });
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
  const auto issues_of = [&](const IssuePicture& picture) {
    return of_row.empty() ? IssueSet() : of_row[picture.rows.front()];
  };
  IssueSet wanted;
  for (const IssuePicture& picture : pictures) wanted.add(issues_of(picture));
  for_each_issue(wanted, columns, hash, [&](const IssueRow& row, const Scores& scores) {
    for (IssuePicture& picture : pictures) {
      if (issues_of(picture).has(row.issue)) {
        picture.scores.push_back({row.issue, scores[picture.rows.front()]});
      }
    }
  });
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
