#include "dedup/audit/issue.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/error.h"
#include "common/row_called.h"

namespace winnow::dedup {
namespace {

constexpr float kYesOrNo = 0.5F;
constexpr float kHalf = 0.5F;

constexpr std::array<IssueRow, kShownIssueCount> kShown{{
    {"dark", Issue::kDark, 0.32F, "99th percentile of the brightness"},
    {"bright", Issue::kBright, 0.05F, "95th percentile of the distance to white"},
    {"over_exposed", Issue::kOverExposed, 0.5F, "share of the image that is not pure white"},
    {"blurry", Issue::kBlurry, 0.29F, "its edges are weak, at 64 pixels"},
    {"low_information", Issue::kLowInformation, 0.3F, "entropy in bits, divided by 10"},
    {"gray", Issue::kGray, 0.002F, "no colour, in a set where most images have some"},
    {"odd_size", Issue::kOddSize, 0.5F, "far larger or smaller than the others"},
    {"odd_shape", Issue::kOddShape, 0.35F, "shorter side by longer side"},
    {"tiny", Issue::kTiny, 0.5F, "shorter side under 32 pixels, in a set where most have more"},
    {"exif_orientation", Issue::kTurned, kYesOrNo, "EXIF says that the image is rotated"},
    {"exact_duplicate", Issue::kExactDuplicate, kYesOrNo, "equal files or pixels"},
    {"near_duplicate", Issue::kNearDuplicate, kYesOrNo, "equal codes, other pixels"},
    {"label_conflict", Issue::kLabelConflict, kYesOrNo, "a duplicate has other labels"},
    {"label_error", Issue::kLabelError, kHalf,
     "probability of its label against the likeliest one, from a net not trained on it"},
    {"label_neighbours", Issue::kLabelOfNeighbours, kHalf,
     "frequency of its label against the likeliest one, among its nearest neighbours"},
    {"outlier", Issue::kOutlier, kHalf,
     "feature distance to its nearest, three interquartile ranges above the upper quartile"},
}};
constexpr std::span<const IssueRow> kRows = std::span(kShown).first<kIssueCount>();

}  // namespace

std::span<const IssueRow> issue_rows() noexcept { return kRows; }

std::span<const IssueRow> shown_issue_rows() noexcept { return kShown; }

const IssueRow& row_of(Issue issue) noexcept { return kShown[static_cast<std::size_t>(issue)]; }

bool is_of_one_picture(Issue issue) noexcept { return issue <= Issue::kTurned; }

double rounded_score(float score) noexcept {
  return std::round(1e4 * static_cast<double>(score)) / 1e4;
}

void check_of_one_picture(IssueSet issues, std::string_view why_not) {
  for (const IssueRow& row : kRows) {
    if (!issues.has(row.issue) || is_of_one_picture(row.issue)) continue;
    throw UsageError(std::string(row.name) + " is not an issue of a single picture" +
                     std::string(why_not));
  }
}

IssueSet all_issues() noexcept {
  IssueSet all;
  for (const IssueRow& row : kRows) all.add(row.issue);
  return all;
}

IssueSet parse_issues(const std::vector<std::string>& names) {
  IssueSet issues;
  for (const std::string& name : names) {
    issues.add(row_called("there is no issue", name, kRows).issue);
  }
  return issues;
}

std::vector<std::string> names_of(IssueSet issues) {
  std::vector<std::string> names;
  for (const IssueRow& row : kShown) {
    if (issues.has(row.issue)) names.emplace_back(row.name);
  }
  return names;
}

}  // namespace winnow::dedup
