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

// Which member of a group of duplicates is kept, among its members in one split.
enum class KeepPolicy {
  // The best picture by Policy::preferred; without it, the best by table columns (preference.h).
  kBest,
  kFirst,     // lowest id
  kLargest,   // most pixels
  kSharpest,  // greatest sharpness; not meaningful between copies of different size
  kMajority,  // a member with the most frequent label of the whole group, counted in all splits
  kMedoid,    // nearest to all others of the group: smallest sum of code distances
};

// Throws UsageError for a name that is not in keep_policies().
KeepPolicy parse_keep_policy(std::string_view name);
std::string_view keep_policy_name(KeepPolicy policy) noexcept;
// A keep policy: its name on the command line, its value, and what it keeps in the words of help
// texts, such as "the first".
struct KeepPolicyRow {
  std::string_view name;
  KeepPolicy value;
  std::string_view what;
};
std::vector<KeepPolicyRow> keep_policies();
// The table columns that a keep policy reads. `codes` is the name of the column of the compared
// codes; empty if no codes are compared.
ColumnNames columns_for(KeepPolicy policy, const std::string& codes);

// How to resolve a leak: a picture that is in several of train, val and test.
enum class LeakAction {
  kDrop,  // the picture stays in the first of its splits by SplitOrder, and leaves the others
  // All its samples move to the split that has most of them; on a tie, to the first by SplitOrder.
  kMove,
};
LeakAction parse_leak_action(std::string_view name);  // drop, move; UsageError
std::string_view leak_action_name(LeakAction action) noexcept;

// How to resolve a conflict: training samples of one group with different labels.
enum class ConflictAction {
  kKeep,  // nothing special: treat the group like any other
  kDrop,  // all are removed
  // All these samples stay and share the weight of one: a loss sees the mean of their labels.
  kWeight,
  // Images that are only similar count as different pictures: each label's images are a group of
  // their own. Images of equal pixels still count as one picture, as under kKeep.
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

// The user's wishes about which rows of a table to keep. Lists with one entry a row may be empty:
// no wish.
struct Precedence {
  // A wildcard pattern for sample names, and the number of images that it matched.
  struct Glob {
    std::string text;
    std::uint64_t images = 0;
  };
  std::vector<Glob> prefer = {};
  std::vector<Glob> protect = {};
  // By row: 0, or a number if a review chose the row to represent its group. Later choices have
  // greater numbers.
  std::vector<std::uint32_t> chosen = {};
  std::vector<bool> preferred = {};     // matched by `prefer`
  std::vector<bool> is_protected = {};  // by row: matched by `protect`, so never dropped
};

struct Policy {
  KeepPolicy keep = KeepPolicy::kFirst;
  LeakAction on_leak = LeakAction::kDrop;
  SplitOrder order = kEvaluationFirst;
  ConflictAction on_conflict = ConflictAction::kKeep;
  SelectionMode mode = SelectionMode::kKeep;  // how the samples of a group in one split are treated
  // For val and test: whether only one sample of each group is kept there, too.
  std::array<bool, kSplitCount> thin{};
  std::shared_ptr<const Precedence> precedence = {};  // nullptr: no wishes
  std::shared_ptr<const PreferredOrder> preferred =
      {};                     // for kBest, from comparing pictures; nullptr: none were compared
  IssueSet drop_issues = {};  // samples with one of these issues (such as "dark") are removed

  bool protects(std::uint32_t row) const noexcept {
    return precedence && !precedence->is_protected.empty() && precedence->is_protected[row];
  }
};

// Chooses the member of a group that represents it.
// rows   Of the group, ascending; at least one.
// table  Has the columns_for() the policy, and no codes but the compared ones.
//
// Criteria, the first one that tells members apart decides:
// * if a member in train, val or test is protected: being in that split
// * the split, by Policy::order; no split comes last
// * chosen by a review, the latest choice first
// * protected, then preferred
// * the keep policy
// * the lowest id
std::uint32_t choose_kept(const Fingerprints& table, std::span<const std::uint32_t> rows,
                          const Policy& policy);
// Sorts the rows of a group by the criteria of choose_kept(), the one to keep first.
std::vector<std::uint32_t> in_order_of_choice(const Fingerprints& table,
                                              std::span<const std::uint32_t> rows,
                                              const Policy& policy);

// Which criterion of choose_kept() made `kept`, not `row`, the representative of their group:
// - "split", "review", "protected", "preferred"
// - what the keep policy found, such as "shows more", or the policy's name
// - "others of the group" if `row` is the better one of these two, but not among all members
// - "first"
// `table` has what choose_kept() reads; codes are optional.
std::string_view reason_of_choice(const Fingerprints& table, std::uint32_t kept, std::uint32_t row,
                                  const Policy& policy);

// The decision about one sample: whether and where it is used, and why.
struct Fate {
  Split split;             // the split in which the sample is used
  float weight;            // 0: removed
  std::uint32_t kept_row;  // the row that represents the sample; its own row if it is kept
  Rule rule;
  friend bool operator==(const Fate&, const Fate&) = default;
};

// Resolves a leak, before thin_group(). Decides about all samples of one picture in all splits: at
// most one of train, val and test keeps the picture. Protected samples are never dropped. Samples
// without a split stay.
// kept_row  The result of choose_kept().
std::vector<Fate> settle_leak(std::span<const Split> splits, std::span<const std::uint32_t> rows,
                              std::uint32_t kept_row, const Policy& policy);

// Thins a group of duplicates: decides about its samples that settle_leak() left.
//
// Val and test  All stay: an evaluation set that changes with the threshold allows no comparison.
//               Only if policy.thin has the split of `kept_row`, one sample stays there, whatever
//               the mode and the labels.
// Train, none   If `kept_row` is in val or test, samples in train and without a split are removed
//               as leaks. Otherwise those without a split are removed, and those in train are
//               treated by policy.mode: one is kept, or they share a weight of 1, or all stay and
//               an epoch uses one of them.
// conflict      Whether the samples in train and without a split have different labels.
// thin          False: samples are only removed because of a conflict.
// Protected samples always stay.
std::vector<Fate> thin_group(std::span<const Split> splits, std::span<const std::uint32_t> rows,
                             std::uint32_t kept_row, bool conflict, bool thin,
                             const Policy& policy);

// The set of a row's labels: ascending, without repeats.
std::vector<std::int32_t> label_set(const Ragged<std::int32_t>& labels, std::uint32_t row);

// Divides a group of similar images by content. Members with equal sets of labels, and members
// linked by `same`, stay in one part. Members without labels join the first part that has labels.
// Rows ascend within each part; parts are ordered by their first row.
std::vector<std::vector<std::uint32_t>> part_by_label(const Ragged<std::int32_t>& labels,
                                                      std::span<const Edge> same,
                                                      std::span<const std::uint32_t> rows);

// Whether two members have different sets of labels. A member without labels differs from none.
bool labels_differ(const Ragged<std::int32_t>& labels, std::span<const std::uint32_t> rows);

}  // namespace winnow::dedup
