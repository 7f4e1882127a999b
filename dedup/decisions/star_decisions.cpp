#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "dedup/cluster/stars.h"
#include "dedup/decisions/decisions_internal.h"
#include "dedup/leak/leak.h"

namespace winnow::dedup {
namespace {

// For each row the number of its set of labels; 0: none.
std::vector<std::uint32_t> label_numbers(const Ragged<std::int32_t>& labels,
                                         std::span<const std::uint32_t> rows) {
  std::vector<std::uint32_t> numbers(labels.size());
  std::map<std::vector<std::int32_t>, std::uint32_t> known{{{}, 0}};
  for (const std::uint32_t row : rows) {
    const auto next = static_cast<std::uint32_t>(known.size());
    numbers[row] = known.try_emplace(label_set(labels, row), next).first->second;
  }
  return numbers;
}

// Decides which rows are removed beside a kept one: as a leak, or as a copy.
class Going {
 public:
  // shares  By row: whether it stays with others of its group, by weight or turns.
  Going(const Deciding& by, std::span<const std::uint32_t> rows, std::span<const Split> splits,
        const std::vector<bool>& shares)
      : scope_(by.options.scope),
        policy_(by.options.policy),
        splits_(splits),
        labels_(label_numbers(by.labels, rows)),
        picture_(connected_components(splits.size(), surely_same(by, rows)).of_row),
        shares_(shares) {}

  GoingRules rules() const {
    return {[this](std::uint32_t row, std::uint32_t staying) {
              return !policy_.protects(row) && (is_leak(row, staying) || is_copy(row, staying));
            },
            [this](std::uint32_t row) {
              return labels_[row] * kSplitCount + static_cast<std::uint32_t>(splits_[row]);
            }};
  }

 private:
  bool is_leak(std::uint32_t row, std::uint32_t staying) const {
    return scope_ != Scope::kWithin && splits_[row] != splits_[staying] &&
           splits_[row] != Split::kNone && splits_[staying] != Split::kNone;
  }
  bool is_copy(std::uint32_t row, std::uint32_t staying) const {
    const Split split = splits_[row];
    const bool is_there_too = split == splits_[staying];
    if (scope_ == Scope::kAcross || (!is_there_too && split != Split::kNone)) return false;
    if (is_evaluation(split) && !policy_.thin[static_cast<std::size_t>(split)]) return false;
    if (is_there_too && !is_evaluation(split) && shares_[row]) return false;
    return may_be_one(row, staying);
  }
  bool may_be_one(std::uint32_t row, std::uint32_t staying) const {
    if (policy_.on_conflict != ConflictAction::kStay) return true;
    return labels_[row] == labels_[staying] || labels_[row] == 0 || labels_[staying] == 0 ||
           picture_[row] == picture_[staying];
  }

  Scope scope_;
  const Policy& policy_;
  std::span<const Split> splits_;
  std::vector<std::uint32_t> labels_;
  std::vector<std::uint32_t> picture_;  // by row: surely equal pictures have one number
  const std::vector<bool>& shares_;
};

// The staying rows of the components, most wanted first in each.
std::vector<std::uint32_t> order_of(const RowLists& components, const Fingerprints& table,
                                    const Policy& policy, const Decisions& decisions) {
  std::vector<std::uint32_t> order;
  for (std::vector<std::uint32_t> rows : components) {
    std::erase_if(rows, [&](std::uint32_t row) { return !decisions.stays(row); });
    const std::vector<std::uint32_t> ordered = in_order_of_choice(table, rows, policy);
    order.insert(order.end(), ordered.begin(), ordered.end());
  }
  return order;
}

bool shares_weight(const Policy& policy, bool conflict) {
  return policy.mode != SelectionMode::kKeep ||
         (conflict && policy.on_conflict == ConflictAction::kWeight);
}

// Decides star-shaped groups step by step.
class StarDecision {
 public:
  StarDecision(const Deciding& by, const LinkedNodes& nodes, Fingerprints& table,
               Decisions& decisions, Result& result)
      : by_(by),
        policy_(by.options.policy),
        nodes_(nodes),
        table_(table),
        decisions_(decisions),
        result_(result),
        own_(table.splits) {}

  void run() {
    const auto all_go = [](std::uint32_t, std::uint32_t) { return true; };
    groups_ = stars_of(nodes_, order(), {all_go}).groups;
    describe();
    if (policy_.on_conflict == ConflictAction::kDrop) {
      drop_conflicts(by_, table_, decisions_, result_);
    }
    if (by_.options.scope != Scope::kWithin && policy_.on_leak == LeakAction::kMove) {
      for (const auto& rows : by_.components) settle(rows, policy_, table_, decisions_);
    }
    const Stars stars = who_stays();
    count(stars);
    let_go(stars);
    share();
    count_protected_leaks();
  }

 private:
  std::vector<std::uint32_t> order() const {
    return order_of(by_.components, table_, policy_, decisions_);
  }

  // Whether rows of a group share a weight depends on which rows are removed, and vice versa. A row
  // never shares if nobody is left to share with.
  Stars who_stays() const {
    const std::vector<std::uint32_t> most_wanted_first = order();
    std::vector<std::uint32_t> rows = most_wanted_first;
    std::ranges::sort(rows);
    std::vector<bool> shares = sharing([](std::uint32_t) { return true; });
    for (;;) {
      const Going going(by_, rows, table_.splits, shares);
      Stars stars = stars_of(nodes_, most_wanted_first, going.rules());
      std::vector<bool> left = sharing(
          [&](std::uint32_t row) { return shares[row] && stars.stands_for_row[row] == row; });
      if (left == shares) return stars;
      shares = std::move(left);
    }
  }

  void describe() {
    result_.groups = describe_groups(members_of_groups(groups_), by_.labels, own_);
  }

  void count(const Stars& stars) {
    for (const Group& group : result_.groups) {
      std::vector<std::uint32_t> rows = decisions_.staying_of(group.rows);
      std::erase_if(rows, [&](std::uint32_t row) {
        return table_.splits[stars.stands_for_row[row]] != table_.splits[row];
      });
      count_repeated(rows, table_.splits, result_);
      if (!group.label_conflict || policy_.on_conflict != ConflictAction::kStay) continue;
      const auto parts = part_by_label(by_.labels, surely_same(by_, group.rows), group.rows);
      result_.near_conflicts += parts.size() > 1 ? 1 : 0;
    }
  }

  void count_protected_leaks() {
    if (by_.options.scope == Scope::kWithin) return;
    for (const auto& component : by_.components) {
      const std::vector<std::uint32_t> rows = decisions_.staying_of(component);
      const bool is_kept =
          std::ranges::any_of(rows, [&](std::uint32_t row) { return policy_.protects(row); });
      result_.protected_leaks += is_kept && is_leak(table_.splits, rows) ? 1 : 0;
    }
  }

  // Filters these rows of a group: keeps those that stay and share a weight or take turns.
  std::vector<std::uint32_t> sharing_of(std::vector<std::uint32_t> rows) const {
    rows = trained_on(std::move(rows), table_.splits);
    const auto is_in_train = [&](std::uint32_t row) { return table_.splits[row] == Split::kTrain; };
    if (std::ranges::any_of(rows, is_in_train)) std::erase_if(rows, std::not_fn(is_in_train));
    const bool shares = rows.size() > 1 && shares_weight(policy_, labels_differ(by_.labels, rows));
    return shares ? rows : std::vector<std::uint32_t>();
  }

  // The same for all groups, by row.
  std::vector<bool> sharing(const std::function<bool(std::uint32_t row)>& may) const {
    std::vector<bool> shares(table_.size());
    for (const Group& group : result_.groups) {
      std::vector<std::uint32_t> rows = decisions_.staying_of(group.rows);
      std::erase_if(rows, std::not_fn(may));
      for (const std::uint32_t row : sharing_of(std::move(rows))) shares[row] = true;
    }
    return shares;
  }

  // A removed row is linked to its representative, and listed with it.
  void let_go(const Stars& stars) {
    UnionFind together(table_.size());
    bool is_apart = false;
    for (std::uint32_t row = 0; row < stars.stands_for_row.size(); ++row) {
      const std::uint32_t staying = stars.stands_for_row[row];
      if (staying == row) continue;
      const bool leaks =
          table_.splits[row] != table_.splits[staying] &&
          (table_.splits[row] != Split::kNone || is_evaluation(table_.splits[staying]));
      const Fate fate{table_.splits[row], 0, staying, leaks ? Rule::kLeak : Rule::kDuplicate};
      decisions_.take(std::span(&row, 1), std::span(&fate, 1));
      is_apart = is_apart || groups_.of_row[row] != groups_.of_row[staying];
      together.unite(Edge{row, staying, 0});
    }
    if (!is_apart) return;
    std::vector<std::uint32_t> first(groups_.count, ~std::uint32_t{0});  // for each group
    for (std::uint32_t row = 0; row < groups_.of_row.size(); ++row) {
      std::uint32_t& of_group = first[groups_.of_row[row]];
      of_group = std::min(of_group, row);
      together.unite(Edge{of_group, row, 0});
    }
    groups_ = std::move(together).components();
    describe();
  }

  void share() {
    for (const Group& group : result_.groups) {
      const std::vector<std::uint32_t> rows = sharing_of(decisions_.staying_of(group.rows));
      if (rows.empty()) continue;
      const bool conflict = labels_differ(by_.labels, rows);
      decisions_.take(rows, thin_group(table_.splits, rows, choose_kept(table_, rows, policy_),
                                       conflict, by_.options.scope != Scope::kAcross, policy_));
    }
  }

  const Deciding& by_;
  const Policy& policy_;
  const LinkedNodes& nodes_;
  Fingerprints& table_;
  Decisions& decisions_;
  Result& result_;
  const std::vector<Split> own_;
  Components groups_;
};

}  // namespace

void decide_stars(const Deciding& by, const LinkedNodes& nodes, Fingerprints& table,
                  Decisions& decisions, Result& result) {
  StarDecision(by, nodes, table, decisions, result).run();
}

}  // namespace winnow::dedup
