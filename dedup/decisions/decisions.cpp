#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <utility>

#include "dedup/decisions/decisions_internal.h"
#include "dedup/decisions/issues.h"
#include "dedup/leak/leak.h"
#include "dedup/review/decided.h"

namespace winnow::dedup {
namespace {

// Thins a group, or a part of one.
void thin_one(std::span<const std::uint32_t> members, const Deciding& by, const Fingerprints& table,
              Decisions& decisions, Result& counts) {
  const Policy& policy = by.options.policy;
  const std::vector<std::uint32_t> rows = decisions.staying_of(members);
  if (rows.empty()) return;
  count_repeated(rows, table.splits, counts);
  const bool conflict = labels_differ(by.labels, trained_on(rows, table.splits));
  decisions.take(rows, thin_group(table.splits, rows, choose_kept(table, rows, policy), conflict,
                                  by.options.scope != Scope::kAcross, policy));
}

void thin(const Deciding& by, const Fingerprints& table, Decisions& decisions, Result& result) {
  for (const Group& group : result.groups) {
    if (!group.label_conflict || by.pixels.empty()) {
      thin_one(group.rows, by, table, decisions, result);
      continue;
    }
    const RowLists parts = part_by_label(by.labels, surely_same(by, group.rows), group.rows);
    for (const auto& part : parts) {
      thin_one(part, by, table, decisions, result);
    }
    result.near_conflicts += parts.size() > 1 ? 1 : 0;
  }
  // A representative of the first decision may have been removed by the second.
  for (std::uint32_t& kept : decisions.kept_rows) kept = decisions.kept_rows[kept];
}

}  // namespace

Decisions::Decisions(std::vector<Split> splits_of_table)
    : splits(std::move(splits_of_table)),
      weights(splits.size(), 1.0F),
      kept_rows(splits.size()),
      rules(splits.size(), Rule::kKept) {
  std::iota(kept_rows.begin(), kept_rows.end(), std::uint32_t{0});
}

std::vector<std::uint32_t> Decisions::staying() const {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < weights.size(); ++row) {
    if (stays(row)) rows.push_back(row);
  }
  return rows;
}

std::vector<std::uint32_t> Decisions::staying_of(std::span<const std::uint32_t> rows) const {
  std::vector<std::uint32_t> out;
  std::ranges::copy_if(rows, std::back_inserter(out),
                       [&](std::uint32_t row) { return stays(row); });
  return out;
}

void Decisions::take(std::span<const std::uint32_t> rows, std::span<const Fate> fates) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint32_t row = rows[i];
    splits[row] = fates[i].split;
    weights[row] = fates[i].weight;
    kept_rows[row] = fates[i].kept_row;
    // A moved row that is kept stays kMoved.
    if (fates[i].rule != Rule::kKept) rules[row] = fates[i].rule;
  }
}

void drop_judged(const Options& options, Decisions& decisions, Result& result) {
  if (!options.decided) return;
  for (const std::uint32_t row : options.decided->dropped) {
    const bool stays = options.policy.protects(row);
    ++(stays ? result.protected_drops : result.dropped_by_review);
    if (stays) continue;
    decisions.weights[row] = 0;
    decisions.rules[row] = Rule::kReview;
  }
}

void drop_issues(const ColumnSource& columns, const Options& options, std::span<const Split> splits,
                 Decisions& decisions, Result& result) {
  if (options.policy.drop_issues.empty()) return;
  result.issues = find_issues(options.policy.drop_issues, columns, "");
  std::vector<bool> spared(splits.size());
  if (options.decided) {
    for (const std::uint32_t row : options.decided->spared) spared[row] = true;
  }
  for (std::uint32_t row = 0; row < splits.size(); ++row) {
    if (result.issues[row].empty()) continue;
    const Split split = splits[row];
    const bool goes =
        decisions.stays(row) && !options.policy.protects(row) &&
        (!is_evaluation(split) || options.policy.thin[static_cast<std::size_t>(split)]);
    result.spared_by_review += goes && spared[row] ? 1 : 0;
    if (goes && !spared[row]) {
      decisions.weights[row] = 0;
      decisions.rules[row] = Rule::kIssue;
    } else {
      result.issues[row] = {};
    }
  }
}

std::vector<Group> describe_groups(RowLists lists, const Ragged<std::int32_t>& labels,
                                   std::span<const Split> splits) {
  std::vector<Group> groups;
  groups.reserve(lists.size());
  for (std::vector<std::uint32_t>& rows : lists) {
    const bool conflict = labels_differ(labels, rows);
    const bool leak = is_leak(splits, rows);
    groups.push_back({std::move(rows), conflict, leak});
  }
  return groups;
}

std::vector<Edge> surely_same(const Deciding& by, std::span<const std::uint32_t> rows) {
  std::vector<Edge> same;
  if (!by.pixels.empty()) same = equal_edges(by.pixels, rows);
  if (!by.options.decided) return same;
  const std::vector<Edge> said = same_edges(*by.options.decided, rows);
  same.insert(same.end(), said.begin(), said.end());
  return same;
}

std::vector<std::uint32_t> trained_on(std::vector<std::uint32_t> rows,
                                      std::span<const Split> splits) {
  std::erase_if(rows, [&](std::uint32_t row) { return is_evaluation(splits[row]); });
  return rows;
}

void count_repeated(std::span<const std::uint32_t> rows, std::span<const Split> splits,
                    Result& result) {
  for (const Split split : {Split::kVal, Split::kTest}) {
    const auto samples =
        std::ranges::count_if(rows, [&](std::uint32_t row) { return splits[row] == split; });
    if (samples > 1) {
      result.repeated[static_cast<std::size_t>(split)] += static_cast<std::uint64_t>(samples) - 1;
    }
  }
}

void drop_conflicts(const Deciding& by, const Fingerprints& table, Decisions& decisions,
                    const Result& result) {
  for (const Group& group : result.groups) {
    if (!group.label_conflict) continue;
    const std::vector<std::uint32_t> rows = trained_on(group.rows, table.splits);
    if (!labels_differ(by.labels, rows)) continue;
    for (const std::uint32_t row : rows) {
      if (by.options.policy.protects(row)) continue;
      decisions.weights[row] = 0;
      decisions.rules[row] = Rule::kConflict;
    }
  }
}

std::uint64_t settle(std::vector<std::uint32_t> rows, const Policy& policy, Fingerprints& table,
                     Decisions& decisions) {
  const auto is_gone = [&](std::uint32_t row) { return !decisions.stays(row); };
  std::erase_if(rows, is_gone);
  if (!is_leak(table.splits, rows)) return 0;
  const std::uint32_t kept_row = choose_kept(table, rows, policy);
  decisions.take(rows, settle_leak(table.splits, rows, kept_row, policy));
  for (const std::uint32_t row : rows) table.splits[row] = decisions.splits[row];
  std::erase_if(rows, is_gone);
  return is_leak(table.splits, rows) ? 1 : 0;
}

void decide(const Deciding& by, Fingerprints& table, Decisions& decisions, Result& result) {
  const Policy& policy = by.options.policy;
  if (policy.on_conflict == ConflictAction::kDrop) {
    drop_conflicts(by, table, decisions, result);
  }
  if (by.options.scope != Scope::kWithin) {
    for (const auto& rows : by.components) {
      result.protected_leaks += settle(rows, policy, table, decisions);
    }
  }
  thin(by, table, decisions, result);
}

}  // namespace winnow::dedup
