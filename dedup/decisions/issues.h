#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dedup/audit/issue.h"
#include "dedup/table/fingerprints.h"

namespace winnow::dedup {

// The audit of a table: pure functions of its columns, one issue at a time.
//
// columns  Gives "audit", "widths_px", "heights_px", "labels", "quality" and the columns of
//          equality, each once. Issues of one picture need at most two at once.
// hash     Equal codes of this hash make a near duplicate; "": no near duplicates.
// errors   UsageError if the table lacks the measures that an issue needs.

// Receives the scores of all rows, from 0 (worst) to 1. A score below the threshold is an issue.
// Source  cleanvision 0.3.7 for dark, bright, blurry, low_information, odd_size, odd_shape.
using ScoreSink = std::function<void(const IssueRow&, const std::vector<float>& scores)>;
// Computes the requested issues in the order of Issue.
void for_each_issue(IssueSet wanted, const ColumnSource& columns, const std::string& hash,
                    const ScoreSink& take);

// The issues of each row, of those requested.
std::vector<IssueSet> find_issues(IssueSet wanted, const ColumnSource& columns,
                                  const std::string& hash);

// A picture with the issues it is shown for.
struct IssuePicture {
  struct Score {
    Issue issue;
    float score;
  };
  std::vector<std::uint32_t> rows;  // with equal files, ascending
  std::vector<Score> scores;        // in the order of Issue; may be empty
};
// The pictures of these rows, one for all rows of equal files, with their issues by `of_row`.
// Order  By first issue, pictures without issues last; then the worst score; then the first row.
// `columns` (with "file_hashes") and `hash` as for for_each_issue().
std::vector<IssuePicture> issue_pictures(std::vector<std::uint32_t> rows,
                                         const std::vector<IssueSet>& of_row,
                                         const ColumnSource& columns, const std::string& hash);

// Number of rows with each issue.
std::array<std::uint64_t, kIssueCount> count_issues(const std::vector<IssueSet>& of_row) noexcept;

// Whether the table has the measures that the audit needs. True for a table without rows.
bool is_audited(const ColumnSource& columns);

}  // namespace winnow::dedup
