#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dedup/audit/issue.h"
#include "dedup/policy/preference.h"
#include "dedup/search/search.h"
#include "dedup/table/fingerprints.h"
#include "dedup/table/selection.h"

namespace winnow::dedup {

// Which member of a group is kept, among those of one split.
enum class KeepPolicy {
  kBest,      // the best picture by Policy::preferred; without it, by columns (preference.h)
  kFirst,     // lowest id
  kLargest,   // most pixels
  kSharpest,  // greatest sharpness; not meaningful between copies of different size
  kMajority,  // labelled as most of the group are, in whatever split
  kMedoid,    // nearest to all others of the group: smallest sum of code distances
};

// UsageError for a name that is not in keep_policies().
KeepPolicy parse_keep_policy(std::string_view name);
std::string_view keep_policy_name(KeepPolicy policy) noexcept;
// Name and value of each policy, and what it keeps, as worded in help texts: "the first".
struct KeepPolicyRow {
  std::string_view name;
  KeepPolicy value;
  std::string_view what;
};
std::vector<KeepPolicyRow> keep_policies();
// The columns that the policy reads. `codes` is the column of the compared codes, empty if there is
// none.
ColumnNames columns_for(KeepPolicy policy, const std::string& codes);

// How to treat a picture that is in several of train, val and test.
enum class LeakAction {
  kDrop,  // it stays in one of them, the first by SplitOrder, and is removed from the others
  kMove,  // all its samples move to the split with most of them (the first if equal)
};
LeakAction parse_leak_action(std::string_view name);  // drop, move; UsageError
std::string_view leak_action_name(LeakAction action) noexcept;

// How to treat training samples of a group that have different labels.
enum class ConflictAction {
  kKeep,    // the same as in any group
  kDrop,    // all are removed
  kWeight,  // all stay and share the weight of one, so that a loss sees the mean of their labels
  // Merely similar images are treated as different pictures: the rules of any group apply within
  // each label. Images of equal pixels are one picture, as under kKeep.
  kStay,
};
ConflictAction parse_conflict_action(
    std::string_view name);  // keep, drop, weight, stay; UsageError
std::string_view conflict_action_name(ConflictAction action) noexcept;

// Whether a split is used for evaluation: val or test.
bool is_evaluation(Split split) noexcept;

// Train, val and test in order of priority: a picture in several of them stays in the first.
using SplitOrder = std::array<Split, 3>;
inline constexpr SplitOrder kEvaluationFirst{Split::kTest, Split::kVal, Split::kTrain};
inline constexpr SplitOrder kTrainingFirst{Split::kTrain, Split::kVal, Split::kTest};

// The user's wishes about which rows to keep, by row of a table. An empty list has no effect.
struct Precedence {
  // A glob over names, and the number of images it matches.
  struct Glob {
    std::string text;
    std::uint64_t images = 0;
  };
  std::vector<Glob> prefer = {};
  std::vector<Glob> protect = {};
  // Chosen by a review: 0 = no; later choices have greater numbers.
  std::vector<std::uint32_t> chosen = {};
  std::vector<bool> preferred = {};     // matched by `prefer`
  std::vector<bool> is_protected = {};  // matched by `protect`: never dropped
};

struct Policy {
  KeepPolicy keep = KeepPolicy::kFirst;
  LeakAction on_leak = LeakAction::kDrop;
  SplitOrder order = kEvaluationFirst;
  ConflictAction on_conflict = ConflictAction::kKeep;
  SelectionMode mode = SelectionMode::kKeep;  // treatment of a group's samples in one split
  // Val, test: these also keep only one sample of a group.
  std::array<bool, kSplitCount> thin{};
  std::shared_ptr<const Precedence> precedence = {};  // nullptr: no wishes
  std::shared_ptr<const PreferredOrder> preferred =
      {};                     // for kBest, from comparing pictures; nullptr: none were compared
  IssueSet drop_issues = {};  // issues of single pictures: samples with one are removed

  bool protects(std::uint32_t row) const noexcept {
    return precedence && !precedence->is_protected.empty() && precedence->is_protected[row];
  }
};

// Chooses the member of a group that represents it. `rows` ascend and are not empty. `table` has
// the columns_for() the policy, and no codes but those compared.
//
// Order of the criteria:
// * in train, val or test, where one of these has a protected member: that split's members
// * the split that comes first in the order; no split at all comes last
// * chosen by a review, the latest choice first
// * protected, then preferred
// * the keep policy
// * the lowest id
std::uint32_t choose_kept(const Fingerprints& table, std::span<const std::uint32_t> rows,
                          const Policy& policy);
// All rows in that order, the one to keep first.
std::vector<std::uint32_t> in_order_of_choice(const Fingerprints& table,
                                              std::span<const std::uint32_t> rows,
                                              const Policy& policy);

// Why `kept` and not `row` represents a group, following choose_kept():
// - "split", "review", "protected", "preferred"
// - what the keep policy found, such as "shows more", or the policy's name
// - "others of the group" if these decided for both
// - "first"
// `table` has what choose_kept() reads; codes are optional.
std::string_view reason_of_choice(const Fingerprints& table, std::uint32_t kept, std::uint32_t row,
                                  const Policy& policy);

// The decision about one sample.
struct Fate {
  Split split;             // the split in which it is used
  float weight;            // 0: removed
  std::uint32_t kept_row;  // its representative; itself if kept
  Rule rule;
  friend bool operator==(const Fate&, const Fate&) = default;
};

// First decision, about all samples of one picture in all splits: at most one of train, val and
// test keeps it. Protected samples are never dropped. Samples without a split stay.
// kept_row  From choose_kept().
std::vector<Fate> settle_leak(std::span<const Split> splits, std::span<const std::uint32_t> rows,
                              std::uint32_t kept_row, const Policy& policy);

// Second decision, about the samples of one group that the first one left.
//
// Val and test  Stay, because an evaluation set that changes with the threshold allows no
//               comparison. Only with policy.thin for `kept_row`'s split does one sample stay for
//               all there, whatever the mode and the labels.
// Train, none   If `kept_row` is in val or test, they are removed as leaks. Otherwise samples
//               without a split are removed, and those in train are thinned by mode: one is kept,
//               or they share a weight of 1, or all stay to take turns.
// conflict      The samples in train and without a split have different labels.
// thin          False: only conflicts are removed.
// Protected samples always stay.
std::vector<Fate> thin_group(std::span<const Split> splits, std::span<const std::uint32_t> rows,
                             std::uint32_t kept_row, bool conflict, bool thin,
                             const Policy& policy);

// The labels of a row, ascending, without repeats.
std::vector<std::int32_t> label_set(const Ragged<std::int32_t>& labels, std::uint32_t row);

// Divides a group by content: members with the same set of labels, or linked by `same`, are
// together. Members without labels join the first one that has some.
// Rows ascend within each part; parts are ordered by their first row.
std::vector<std::vector<std::uint32_t>> part_by_label(const Ragged<std::int32_t>& labels,
                                                      std::span<const Edge> same,
                                                      std::span<const std::uint32_t> rows);

// Whether two members have different sets of labels. A member without labels contradicts none.
bool labels_differ(const Ragged<std::int32_t>& labels, std::span<const std::uint32_t> rows);

}  // namespace winnow::dedup
