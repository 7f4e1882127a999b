#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::dedup {

// Problems that a picture can have.
// Issues after kTurned concern several pictures. Issues after kLabelConflict need more than the
// table: the audit does not find them (see labels/).
enum class Issue : std::uint8_t {
  kDark,
  kBright,
  kOverExposed,
  kBlurry,
  kLowInformation,
  kGray,
  kOddSize,
  kOddShape,
  kTiny,
  kTurned,
  kExactDuplicate,
  kNearDuplicate,
  kLabelConflict,
  kLabelError,
  kLabelOfNeighbours,
  kOutlier,
};
inline constexpr int kIssueCount = 13;       // found by the audit
inline constexpr int kShownIssueCount = 16;  // all that can be shown

struct IssueRow {
  std::string_view name;  // "low_information"
  Issue issue;
  float threshold;        // a score below it is an issue
  std::string_view what;  // one line for the user
};
// The issues of the audit, and all issues, in the order of Issue.
std::span<const IssueRow> issue_rows() noexcept;
std::span<const IssueRow> shown_issue_rows() noexcept;
const IssueRow& row_of(Issue issue) noexcept;
// Whether one picture alone shows it, so that dropping all that have it leaves the others.
bool is_of_one_picture(Issue issue) noexcept;

// A set of issues.
class IssueSet {
 public:
  void add(Issue issue) noexcept { bits_ |= bit(issue); }
  void add(IssueSet issues) noexcept { bits_ |= issues.bits_; }
  bool has(Issue issue) const noexcept { return (bits_ & bit(issue)) != 0; }
  bool empty() const noexcept { return bits_ == 0; }
  friend bool operator==(const IssueSet&, const IssueSet&) = default;

 private:
  static std::uint32_t bit(Issue issue) noexcept { return 1u << static_cast<unsigned>(issue); }
  std::uint32_t bits_ = 0;
};

// A score as reported: four digits, because further ones depend on the C library.
double rounded_score(float score) noexcept;

// UsageError for an issue that concerns several pictures. `why_not` explains it in the message.
void check_of_one_picture(IssueSet issues, std::string_view why_not);

IssueSet all_issues() noexcept;  // all that the audit finds
// Parses names of audit issues. UsageError lists the known names.
IssueSet parse_issues(const std::vector<std::string>& names);
std::vector<std::string> names_of(IssueSet issues);  // in the order of Issue

}  // namespace winnow::dedup
