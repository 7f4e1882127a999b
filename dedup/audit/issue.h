#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::dedup {

// Issues: problems that a picture can have. The order matters:
// - up to kTurned: seen in one picture alone
// - up to kLabelConflict: found by comparing images in the table of fingerprints
// - after kLabelConflict: need features or a net (labels/); the audit does not find them
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
inline constexpr int kIssueCount = 13;  // found by the audit
// Number of all issues, those that the audit cannot find included.
inline constexpr int kShownIssueCount = 16;

struct IssueRow {
  std::string_view name;  // "low_information"
  Issue issue;
  float threshold;        // an image with a lower score than this has the issue
  std::string_view what;  // one line about the issue for the user
};
// The issues that the audit finds, and all issues; both in the order of Issue.
std::span<const IssueRow> issue_rows() noexcept;
std::span<const IssueRow> shown_issue_rows() noexcept;
const IssueRow& row_of(Issue issue) noexcept;
// Whether the issue is seen in one picture alone. If so, removing every image that has it loses no
// good image. (Of duplicates, one should stay.)
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

// Rounds a score for reports to four decimals: further ones depend on the C library.
double rounded_score(float score) noexcept;

// Throws UsageError if one of the issues concerns several pictures. `why_not` ends its message: why
// such an issue is not possible here.
void check_of_one_picture(IssueSet issues, std::string_view why_not);

IssueSet all_issues() noexcept;  // all issues that the audit finds
// Parses names of issues that the audit finds. Throws UsageError, which lists the known names.
IssueSet parse_issues(const std::vector<std::string>& names);
std::vector<std::string> names_of(IssueSet issues);  // names in the order of Issue

}  // namespace winnow::dedup
