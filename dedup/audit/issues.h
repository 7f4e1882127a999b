#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dedup/audit/issue.h"
#include "dedup/fingerprints.h"

namespace winnow::dedup {

// The audit of a table: pure functions of its columns, one issue at a time.
//
// columns  Gives the columns "audit", "widths_px", "heights_px", "labels", "quality" and those of
//          equality, each once. For issues of one picture two at once are held at most.
// hash     The codes whose equality makes a near duplicate; "": pictures are never near.
// errors   UsageError where the table has no measures and the issue is told by them.

// Gets the scores of each row, from 0, the worst, to 1. Below the threshold it is an issue.
// dark, bright, blurry, low_information, odd_size, odd_shape: cleanvision 0.3.7's scores.
using ScoreSink = std::function<void(const IssueRow&, const std::vector<float>& scores)>;
// Of the issues that are asked for, in the order of Issue.
void for_each_issue(IssueSet wanted, const ColumnSource& columns, const std::string& hash,
                    const ScoreSink& take);

// The issues of each row, of those asked for.
std::vector<IssueSet> find_issues(IssueSet wanted, const ColumnSource& columns,
                                  const std::string& hash);

// A picture as it is shown for its issues.
struct IssuePicture {
  struct Score {
    Issue issue;
    float score;
  };
  std::vector<std::uint32_t> rows;  // of one file, ascending
  std::vector<Score> scores;        // in the order of Issue; may be none
};
// The pictures of these rows, with the issues that `of_row` says, if it says any: one for all rows
// of equal files. By their first issues, those without behind; the worst score first, then the
// first row. `columns` and `hash` as of for_each_issue(), and "file_hashes".
std::vector<IssuePicture> issue_pictures(std::vector<std::uint32_t> rows,
                                         const std::vector<IssueSet>& of_row,
                                         const ColumnSource& columns, const std::string& hash);

// How many rows have each, by Issue.
std::array<std::uint64_t, kIssueCount> count_issues(const std::vector<IssueSet>& of_row) noexcept;

// Whether the table has the measures that the audit needs; one without rows does.
bool is_audited(const ColumnSource& columns);

}  // namespace winnow::dedup
