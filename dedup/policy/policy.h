#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dedup/audit/issue.h"
#include "dedup/fingerprints.h"
#include "dedup/policy/preference.h"
#include "dedup/search/search.h"
#include "dedup/selection.h"

namespace winnow::dedup {

// Which member of a group stands for it, among those of one split.
enum class KeepPolicy {
  kBest,      // the best picture, by Policy::preferred; without it, by columns (preference.h)
  kFirst,     // lowest id
  kLargest,   // most pixels
  kSharpest,  // greatest sharpness; means little between copies of different size
  kMajority,  // labelled as most of the group are, whatever the split of those
  kMedoid,    // nearest to all others of the group: least sum of distances by the codes compared
};

// A name of keep_policies(); else a UsageError
KeepPolicy parse_keep_policy(std::string_view name);
std::string_view keep_policy_name(KeepPolicy policy) noexcept;
// Name and value of each, and what it keeps, as help texts say it: "the first".
struct KeepPolicyRow {
  std::string_view name;
  KeepPolicy value;
  std::string_view what;
};
std::vector<KeepPolicyRow> keep_policies();
// The columns that it judges by. `codes`: the column of the codes compared, empty where there is
// none.
ColumnNames columns_for(KeepPolicy policy, const std::string& codes);

// What becomes of a picture that lies in several of train, val and test.
enum class LeakAction {
  kDrop,  // it stays in one of them, the first by SplitOrder, and leaves the others
  kMove,  // all its samples go to that which has most of them (of equals, the first)
};
LeakAction parse_leak_action(std::string_view name);  // drop, move; UsageError
std::string_view leak_action_name(LeakAction action) noexcept;

// What becomes of the training samples of a group that carry different labels.
enum class ConflictAction {
  kKeep,    // what becomes of any group's
  kDrop,    // all are removed
  kWeight,  // all stay and share the weight of one, so that a loss sees the mean of their labels
  // Those that are merely near are taken for other pictures: of each label what becomes of any
  // group's. Those of equal pixels are one picture, as under kKeep.
  kStay,
};
ConflictAction parse_conflict_action(
    std::string_view name);  // keep, drop, weight, stay; UsageError
std::string_view conflict_action_name(ConflictAction action) noexcept;

// Whether a split is one that results are judged on: val or test.
bool is_evaluation(Split split) noexcept;

// Train, val and test, the first being where a picture stays that lies in several.
using SplitOrder = std::array<Split, 3>;
inline constexpr SplitOrder kEvaluationFirst{Split::kTest, Split::kVal, Split::kTrain};
inline constexpr SplitOrder kTrainingFirst{Split::kTrain, Split::kVal, Split::kTest};

// What people want to keep, by row of a table. A list that is empty says nothing of any row.
struct Precedence {
  // A glob over names, and how many images it fits.
  struct Glob {
    std::string text;
    std::uint64_t images = 0;
  };
  std::vector<Glob> prefer = {};
  std::vector<Glob> protect = {};
  std::vector<std::uint32_t> chosen = {};  // by a review: 0: no; else the greater, the later
  std::vector<bool> preferred = {};        // by `prefer`
  std::vector<bool> is_protected = {};     // by `protect`: never dropped
};

struct Policy {
  KeepPolicy keep = KeepPolicy::kFirst;
  LeakAction on_leak = LeakAction::kDrop;
  SplitOrder order = kEvaluationFirst;
  ConflictAction on_conflict = ConflictAction::kKeep;
  SelectionMode mode = SelectionMode::kKeep;  // what becomes of a group's samples in one split
  std::array<bool, kSplitCount> thin{};       // val, test: these keep one sample of a group too
  std::shared_ptr<const Precedence> precedence = {};  // nullptr: nobody said anything
  std::shared_ptr<const PreferredOrder> preferred =
      {};                     // of kBest, by pictures; nullptr: none were compared
  IssueSet drop_issues = {};  // of one picture each: remove what has one

  bool protects(std::uint32_t row) const noexcept {
    return precedence && !precedence->is_protected.empty() && precedence->is_protected[row];
  }
};

// `table` has the columns_for() the policy; of codes, those compared alone.
//
// The member that stands for a group, `rows`, which ascend: at least one. In this order:
// * of train, val and test where one with a protected member is, one of these
// * of the split that is first in the order; no split at all comes last
// * chosen by a review, what was said last before others
// * protected, then preferred ones
// * by keep policy
// * the lowest id
std::uint32_t choose_kept(const Fingerprints& table, std::span<const std::uint32_t> rows,
                          const Policy& policy);
// All of them in that order: first whom it keeps.
std::vector<std::uint32_t> in_order_of_choice(const Fingerprints& table,
                                              std::span<const std::uint32_t> rows,
                                              const Policy& policy);

// Why `kept` and not `row` stands for a group, as choose_kept has it: "split"; "review",
// "protected", "preferred"; what the keep policy tells, such as "shows more", or its name; "others
// of the group" where these decided for both; "first". `table` has what choose_kept reads; codes
// need not be there.
std::string_view reason_of_choice(const Fingerprints& table, std::uint32_t kept, std::uint32_t row,
                                  const Policy& policy);

// What becomes of a sample.
struct Fate {
  Split split;             // in which it is used
  float weight;            // 0: removed
  std::uint32_t kept_row;  // that stands for it; itself where kept
  Rule rule;
  friend bool operator==(const Fate&, const Fate&) = default;
};

// First decision, of all samples of one picture, wherever they lie: what becomes of each so that
// one of train, val and test has it at most, but for protected ones, which are not dropped. Samples
// of no split stay. `kept_row`: as choose_kept.
std::vector<Fate> settle_leak(std::span<const Split> splits, std::span<const std::uint32_t> rows,
                              std::uint32_t kept_row, const Policy& policy);

// Second decision, of the samples of one group that the first has left: what becomes of its samples
// in train and of no split. Those in val and test stay: an evaluation that changes with the
// threshold compares nothing. Only where policy.thin has their split does one of them stay for all,
// whatever the mode and their labels. Where `kept_row` lies in one of these, the others
// go as leaks. Else, where it lies in train, those of no split go, and the rest is thinned by mode:
// one is kept, or they share a weight of 1, or they stay to take turns. `conflict`: those in train
// and of no split carry labels that differ. Nothing but conflicts is removed unless `thin`, and
// nothing that is protected.
std::vector<Fate> thin_group(std::span<const Split> splits, std::span<const std::uint32_t> rows,
                             std::uint32_t kept_row, bool conflict, bool thin,
                             const Policy& policy);

// The labels of a row, ascending, each once.
std::vector<std::int32_t> label_set(const Ragged<std::int32_t>& labels, std::uint32_t row);

// The members of a group by what they show: those of one set of labels, or linked by `same`, are
// together. One without labels goes with the first that has some. Rows ascend, in each part and by
// their first.
std::vector<std::vector<std::uint32_t>> part_by_label(const Ragged<std::int32_t>& labels,
                                                      std::span<const Edge> same,
                                                      std::span<const std::uint32_t> rows);

// Whether two members carry different sets of labels. One without labels contradicts nobody.
bool labels_differ(const Ragged<std::int32_t>& labels, std::span<const std::uint32_t> rows);

}  // namespace winnow::dedup
