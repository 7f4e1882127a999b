#include "dedup/policy/policy.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "common/error.h"

namespace winnow::dedup {
namespace {

using Rows = std::span<const std::uint32_t>;
using Merits = std::vector<double>;

// Of each row of a group; the greatest is kept.
Merits merits_of(Rows rows, const auto& merit) {
  Merits merits(rows.size());
  std::transform(rows.begin(), rows.end(), merits.begin(), merit);
  return merits;
}

Merits by_area(const Fingerprints& table, Rows rows) {
  // Products of two 32-bit sides stay exact up to 2^53 pixels.
  return merits_of(rows, [&](std::uint32_t row) {
    return static_cast<double>(table.widths_px[row]) * static_cast<double>(table.heights_px[row]);
  });
}

Merits by_sharpness(const Fingerprints& table, Rows rows) {
  return merits_of(rows, [&](std::uint32_t row) { return double{table.sharpness[row]}; });
}

// Members that carry the same labels; none where there are none.
Merits by_votes(const Fingerprints& table, Rows rows) {
  std::map<std::vector<std::int32_t>, double> votes;
  for (const std::uint32_t row : rows) ++votes[label_set(table.labels, row)];
  votes[{}] = 0;
  return merits_of(rows, [&](std::uint32_t row) { return votes.at(label_set(table.labels, row)); });
}

struct NamedPolicy {
  std::string_view name;
  KeepPolicy policy;
  std::array<std::string_view, 2> columns;  // that it judges by
  Merits (*merits)(const Fingerprints& table, Rows rows);
};

constexpr std::array<NamedPolicy, 4> kPolicies{{
    {"first",
     KeepPolicy::kFirst,
     {},
     [](const Fingerprints&, Rows rows) { return Merits(rows.size()); }},
    {"largest", KeepPolicy::kLargest, {"widths_px", "heights_px"}, by_area},
    {"sharpest", KeepPolicy::kSharpest, {"sharpness"}, by_sharpness},
    {"majority", KeepPolicy::kMajority, {"labels"}, by_votes},
}};

const NamedPolicy& row_of(KeepPolicy policy) noexcept {
  return *std::find_if(kPolicies.begin(), kPolicies.end() - 1,
                       [&](const NamedPolicy& row) { return row.policy == policy; });
}

// When the split is used; the later, the more it is worth keeping as it is.
int rank_of(Split split) noexcept {
  switch (split) {
    case Split::kNone:
      return 0;
    case Split::kTrain:
      return 1;
    case Split::kVal:
      return 2;
    case Split::kTest:
      return 3;
  }
  return 0;
}

bool is_evaluation(Split split) noexcept { return split == Split::kVal || split == Split::kTest; }

}  // namespace

KeepPolicy parse_keep_policy(std::string_view name) {
  std::string known;
  for (const NamedPolicy& row : kPolicies) {
    if (row.name == name) return row.policy;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw UsageError("there is no keep policy '" + std::string(name) + "'; choose one of " + known);
}

std::string_view keep_policy_name(KeepPolicy policy) noexcept { return row_of(policy).name; }

ColumnNames columns_for(KeepPolicy policy) {
  ColumnNames names;
  for (const std::string_view column : row_of(policy).columns) {
    if (!column.empty()) names.emplace(column);
  }
  return names;
}

std::uint32_t choose_kept(const Fingerprints& table, std::span<const std::uint32_t> rows,
                          KeepPolicy policy) {
  const Merits merits = row_of(policy).merits(table, rows);
  std::uint32_t best = rows.front();
  std::pair best_key{rank_of(table.splits[best]), merits.front()};
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const std::pair key{rank_of(table.splits[rows[i]]), merits[i]};
    if (key > best_key) {
      best = rows[i];
      best_key = key;
    }
  }
  return best;
}

std::vector<Fate> decide_group(std::span<const Split> splits, std::span<const std::uint32_t> rows,
                               std::uint32_t kept_row) {
  const Rule rule = is_evaluation(splits[kept_row]) ? Rule::kLeak : Rule::kDuplicate;
  std::vector<Fate> fates;
  fates.reserve(rows.size());
  for (const std::uint32_t row : rows) {
    const bool stays = row == kept_row || is_evaluation(splits[row]);
    fates.push_back(stays ? Fate{row, Rule::kKept} : Fate{kept_row, rule});
  }
  return fates;
}

std::vector<std::int32_t> label_set(const Ragged<std::int32_t>& labels, std::uint32_t row) {
  std::vector<std::int32_t> set(labels[row].begin(), labels[row].end());
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
  return set;
}

bool labels_differ(const Ragged<std::int32_t>& labels, std::span<const std::uint32_t> rows) {
  std::vector<std::int32_t> first;
  for (const std::uint32_t row : rows) {
    std::vector<std::int32_t> set = label_set(labels, row);
    if (set.empty()) continue;
    if (first.empty())
      first = std::move(set);
    else if (set != first)
      return true;
  }
  return false;
}

}  // namespace winnow::dedup
