#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dedup/audit/issue.h"
#include "dedup/table/fingerprints.h"

namespace winnow::dedup {

// The audit: finds issues (problems) of the pictures in a table of fingerprints. Pure functions of
// its columns; issues are processed one after the other.
//
// columns  Supplies "audit", "widths_px", "heights_px", "labels", "quality", "file_hashes" and
//          "pixel_hashes", each once. For issues of one picture, at most two are needed at once.
// hash     Pictures with equal codes of this hash are near duplicates; empty: near duplicates are
//          not searched.
// errors   UsageError if the table lacks the measures that an issue needs.

// Receives one issue and the scores of all rows for it, from 0 (worst) to 1. A row has the issue if
// its score is below IssueRow::threshold.
// Source  cleanvision 0.3.7 for dark, bright, blurry, low_information, odd_size, odd_shape.
using ScoreSink = std::function<void(const IssueRow&, const std::vector<float>& scores)>;
// Computes the scores of the wanted issues, in the order of Issue.
void for_each_issue(IssueSet wanted, const ColumnSource& columns, const std::string& hash,
                    const ScoreSink& take);

// By row: which of the wanted issues it has.
std::vector<IssueSet> find_issues(IssueSet wanted, const ColumnSource& columns,
                                  const std::string& hash);

// A picture and its issues, for showing it.
struct IssuePicture {
  struct Score {
    Issue issue;
    float score;
  };
  std::vector<std::uint32_t> rows;  // with equal files, ascending
  std::vector<Score> scores;        // scores of its issues in the order of Issue; may be empty
};
// The pictures of these rows with their issues (`of_row`). Rows of equal files are one picture.
// Order  By first issue, pictures without issues last; then the worst score; then the first row.
// `columns` (with "file_hashes") and `hash` as for for_each_issue().
std::vector<IssuePicture> issue_pictures(std::vector<std::uint32_t> rows,
                                         const std::vector<IssueSet>& of_row,
                                         const ColumnSource& columns, const std::string& hash);

// Number of rows with each issue.
std::array<std::uint64_t, kIssueCount> count_issues(const std::vector<IssueSet>& of_row) noexcept;

// Whether the table has the measures of pixels that the audit needs. True for a table without rows.
bool is_audited(const ColumnSource& columns);

}  // namespace winnow::dedup
