#include "dedup/policy/policy.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "common/error.h"
#include "common/named.h"
#include "dedup/cluster/cluster.h"
#include "dedup/search/search.h"

namespace winnow::dedup {
namespace {

using Rows = std::span<const std::uint32_t>;
using Merits = std::vector<double>;

// By row of a group; the greatest is kept.
Merits merits_of(Rows rows, const auto& merit) {
  Merits merits(rows.size());
  std::transform(rows.begin(), rows.end(), merits.begin(), merit);
  return merits;
}

// By compared pictures, else by columns.
Merits by_preference(const Fingerprints& table, Rows rows, const Policy& policy) {
  if (policy.preferred) {
    return merits_of(rows, [&](std::uint32_t row) {
      return -static_cast<double>(policy.preferred->place(row));
    });
  }
  const std::vector<std::uint32_t> order = order_by_columns(table, rows);
  std::map<std::uint32_t, double> merits;
  for (std::size_t i = 0; i < order.size(); ++i) merits[order[i]] = -static_cast<double>(i);
  return merits_of(rows, [&](std::uint32_t row) { return merits.at(row); });
}

Merits by_area(const Fingerprints& table, Rows rows, const Policy&) {
  // Products of two 32-bit sides are exact up to 2^53 pixels.
  return merits_of(rows, [&](std::uint32_t row) {
    return static_cast<double>(table.widths_px[row]) * static_cast<double>(table.heights_px[row]);
  });
}

Merits by_sharpness(const Fingerprints& table, Rows rows, const Policy&) {
  return merits_of(rows, [&](std::uint32_t row) { return double{table.sharpness[row]}; });
}

// Number of members with the same labels; 0 without labels.
Merits by_votes(const Fingerprints& table, Rows rows, const Policy&) {
  std::map<std::vector<std::int32_t>, double> votes;
  for (const std::uint32_t row : rows) ++votes[label_set(table.labels, row)];
  votes[{}] = 0;
  return merits_of(rows, [&](std::uint32_t row) { return votes.at(label_set(table.labels, row)); });
}

// Minus the sum of bits between a row and all others, computed bit by bit from the number of ones.
// `words` are the compared words of a code.
Merits by_bit_counts(const CodeColumn& codes, Rows rows, std::size_t words) {
  std::vector<double> ones(64 * words);
  for (const std::uint32_t row : rows) {
    for (std::size_t bit = 0; bit < ones.size(); ++bit) {
      ones[bit] += static_cast<double>(codes.code(row)[bit / 64] >> bit % 64 & 1);
    }
  }
  const auto count = static_cast<double>(rows.size());
  return merits_of(rows, [&](std::uint32_t row) {
    double sum = 0;
    for (std::size_t bit = 0; bit < ones.size(); ++bit) {
      const bool one = (codes.code(row)[bit / 64] >> bit % 64 & 1) != 0;
      sum += one ? count - ones[bit] : ones[bit];
    }
    return -sum;
  });
}

// Equal for all if no codes were compared. For several orientations every pair is compared; in
// large groups only the pictures as they are.
Merits by_centrality(const Fingerprints& table, Rows rows, const Policy&) {
  constexpr std::size_t kMostPairwise = 2000;
  if (table.codes.empty()) return Merits(rows.size());
  const CodeColumn& codes = table.codes.front();
  if (codes.orientations == 1 || rows.size() > kMostPairwise) {
    return by_bit_counts(codes, rows, static_cast<std::size_t>(codes.most_distance()) / 64);
  }
  return merits_of(rows, [&](std::uint32_t row) {
    double sum = 0;
    for (const std::uint32_t other : rows) sum += row_distance(codes, row, other);
    return -sum;
  });
}

// Stands for the column of the compared codes.
constexpr std::string_view kCodes = "codes";

struct NamedPolicy {
  std::string_view name;
  KeepPolicy value;
  std::string_view what;                    // for help texts: "keeps ..."
  std::array<std::string_view, 3> columns;  // columns it reads; kCodes: the compared codes
  Merits (*merits)(const Fingerprints& table, Rows rows, const Policy& policy);
};

constexpr std::array<NamedPolicy, 6> kPolicies{{
    {"best",
     KeepPolicy::kBest,
     "the most complete one: nothing cropped or added, in colour, most detail, least compressed",
     {"widths_px", "heights_px", "audit"},
     by_preference},
    {"first",
     KeepPolicy::kFirst,
     "the first",
     {},
     [](const Fingerprints&, Rows rows, const Policy&) { return Merits(rows.size()); }},
    {"largest", KeepPolicy::kLargest, "the largest", {"widths_px", "heights_px"}, by_area},
    {"sharpest", KeepPolicy::kSharpest, "the sharpest", {"sharpness"}, by_sharpness},
    {"majority",
     KeepPolicy::kMajority,
     "one with the most frequent label of the group",
     {"labels"},
     by_votes},
    {"medoid",
     KeepPolicy::kMedoid,
     "the one with the smallest hash distance to all others",
     {kCodes},
     by_centrality},
}};

const NamedPolicy& row_of(KeepPolicy policy) noexcept {
  return *std::find_if(kPolicies.begin(), kPolicies.end() - 1,
                       [&](const NamedPolicy& row) { return row.value == policy; });
}

constexpr std::array<Named<LeakAction>, 2> kLeakActions{
    {{"drop", LeakAction::kDrop}, {"move", LeakAction::kMove}}};
constexpr std::array<Named<ConflictAction>, 4> kConflictActions{
    {{"keep", ConflictAction::kKeep},
     {"drop", ConflictAction::kDrop},
     {"weight", ConflictAction::kWeight},
     {"stay", ConflictAction::kStay}}};

// Smaller means earlier in the order.
auto place_in(const SplitOrder& order, Split split) noexcept {
  return std::ranges::find(order, split) - order.begin();
}

// The user's wishes for a group.
class Wishes {
 public:
  Wishes(const Policy& policy, std::span<const Split> splits, Rows rows) : policy_(policy) {
    for (const std::uint32_t row : rows) {
      if (splits[row] != Split::kNone && policy.protects(row)) {
        protected_[static_cast<std::size_t>(splits[row])] = true;
      }
    }
  }
  // Whether the split has a protected member.
  bool protect(Split split) const noexcept { return protected_[static_cast<std::size_t>(split)]; }
  // Ranks a row by chosen, protected, preferred; the greatest is wanted most.
  std::tuple<std::uint32_t, bool, bool> of(std::uint32_t row) const {
    if (!policy_.precedence) return {};
    const Precedence& said = *policy_.precedence;
    return {said.chosen.empty() ? 0 : said.chosen[row], policy_.protects(row),
            !said.preferred.empty() && said.preferred[row]};
  }

 private:
  const Policy& policy_;
  std::array<bool, kSplitCount> protected_{};
};

// How much a row is wanted as representative; the greatest is wanted most.
using Wanted = std::tuple<bool, std::ptrdiff_t, std::tuple<std::uint32_t, bool, bool>, double>;
std::vector<Wanted> how_wanted(const Fingerprints& table, Rows rows, const Policy& policy) {
  const Merits merits = row_of(policy.keep).merits(table, rows, policy);
  const Wishes wishes(policy, table.splits, rows);
  std::vector<Wanted> wanted;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Split split = table.splits[rows[i]];
    wanted.emplace_back(wishes.protect(split), -place_in(policy.order, split), wishes.of(rows[i]),
                        merits[i]);
  }
  return wanted;
}

}  // namespace

bool is_evaluation(Split split) noexcept { return split == Split::kVal || split == Split::kTest; }

KeepPolicy parse_keep_policy(std::string_view name) {
  return parse_named(kPolicies, "keep policy", name);
}

std::string_view keep_policy_name(KeepPolicy policy) noexcept { return row_of(policy).name; }

std::vector<KeepPolicyRow> keep_policies() {
  std::vector<KeepPolicyRow> rows;
  for (const NamedPolicy& row : kPolicies) rows.push_back({row.name, row.value, row.what});
  return rows;
}

ColumnNames columns_for(KeepPolicy policy, const std::string& codes) {
  ColumnNames names;
  for (const std::string_view column : row_of(policy).columns) {
    const std::string name(column == kCodes ? codes : column);
    if (!name.empty()) names.insert(name);
  }
  return names;
}

LeakAction parse_leak_action(std::string_view name) {
  return parse_named(kLeakActions, "action on leaks", name);
}

std::string_view leak_action_name(LeakAction action) noexcept {
  return name_in(kLeakActions, action);
}

ConflictAction parse_conflict_action(std::string_view name) {
  return parse_named(kConflictActions, "action on conflicts", name);
}

std::string_view conflict_action_name(ConflictAction action) noexcept {
  return name_in(kConflictActions, action);
}

std::uint32_t choose_kept(const Fingerprints& table, std::span<const std::uint32_t> rows,
                          const Policy& policy) {
  const std::vector<Wanted> wanted = how_wanted(table, rows, policy);
  return rows[static_cast<std::size_t>(std::ranges::max_element(wanted) - wanted.begin())];
}

std::vector<std::uint32_t> in_order_of_choice(const Fingerprints& table,
                                              std::span<const std::uint32_t> rows,
                                              const Policy& policy) {
  const std::vector<Wanted> wanted = how_wanted(table, rows, policy);
  std::vector<std::size_t> places(rows.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::stable_sort(places, std::greater(), [&](std::size_t i) { return wanted[i]; });
  std::vector<std::uint32_t> order;
  for (const std::size_t i : places) order.push_back(rows[i]);
  return order;
}

std::string_view reason_of_choice(const Fingerprints& table, std::uint32_t kept, std::uint32_t row,
                                  const Policy& policy) {
  if (table.splits[kept] != table.splits[row]) return "split";
  const std::array rows{kept, row};
  const Wishes wishes(policy, table.splits, rows);
  const auto [is_chosen, is_protected, is_preferred] = wishes.of(kept);
  const auto [other_chosen, other_protected, other_preferred] = wishes.of(row);
  if (is_chosen != other_chosen) return "review";
  if (is_protected != other_protected) return "protected";
  if (is_preferred != other_preferred) return "preferred";
  if (policy.keep != KeepPolicy::kBest) return keep_policy_name(policy.keep);
  const auto told = policy.preferred ? policy.preferred->between(kept, row) : std::nullopt;
  const Preference best = told ? *told : preference_by_columns(table, kept, row);
  return best.better == kept ? kept_for_words(best.why) : "others of the group";
}

std::vector<Fate> settle_leak(std::span<const Split> splits, std::span<const std::uint32_t> rows,
                              std::uint32_t kept_row, const Policy& policy) {
  Split home = splits[kept_row];
  if (policy.on_leak == LeakAction::kMove) {
    std::array<std::size_t, kSplitCount> members{};
    for (const std::uint32_t row : rows) ++members[static_cast<std::size_t>(splits[row])];
    home = *std::ranges::max_element(
        policy.order, {}, [&](Split split) { return members[static_cast<std::size_t>(split)]; });
  }
  std::vector<Fate> fates;
  fates.reserve(rows.size());
  for (const std::uint32_t row : rows) {
    const Split own = splits[row];
    if (own == home || own == Split::kNone) {
      fates.push_back({own, 1, row, Rule::kKept});
    } else if (policy.on_leak == LeakAction::kMove) {
      fates.push_back({home, 1, row, Rule::kMoved});
    } else if (policy.protects(row)) {
      fates.push_back({own, 1, row, Rule::kKept});
    } else {
      fates.push_back({own, 0, kept_row, Rule::kLeak});
    }
  }
  return fates;
}

std::vector<Fate> thin_group(std::span<const Split> splits, std::span<const std::uint32_t> rows,
                             std::uint32_t kept_row, bool conflict, bool thin,
                             const Policy& policy) {
  const Split home = splits[kept_row];
  const auto at_home = static_cast<float>(
      std::ranges::count_if(rows, [&](std::uint32_t row) { return splits[row] == home; }));
  const bool weighed = conflict && policy.on_conflict == ConflictAction::kWeight;
  const bool turns = policy.mode == SelectionMode::kOnePerGroup;
  const bool shared = policy.mode == SelectionMode::kWeight || (weighed && !turns);
  const auto fate_of = [&](std::uint32_t row) -> Fate {
    const Split split = splits[row];
    const Fate alone{split, 1, row, Rule::kKept};
    if (is_evaluation(split)) {
      const bool goes = thin && policy.thin[static_cast<std::size_t>(split)] && split == home;
      return goes && row != kept_row ? Fate{split, 0, kept_row, Rule::kDuplicate} : alone;
    }
    if (conflict && policy.on_conflict == ConflictAction::kDrop) {
      return {split, 0, row, Rule::kConflict};
    }
    if (!thin && !(weighed && split == home)) return alone;
    if (is_evaluation(home)) return {split, 0, kept_row, Rule::kLeak};
    const Rule rule = row == kept_row ? Rule::kKept : Rule::kDuplicate;
    if (split == home && (shared || turns)) {
      return {split, shared ? 1 / at_home : 1, kept_row, rule};
    }
    return row == kept_row ? alone : Fate{split, 0, kept_row, rule};
  };
  std::vector<Fate> fates(rows.size());
  std::ranges::transform(rows, fates.begin(), [&](std::uint32_t row) {
    const Fate fate = fate_of(row);
    const bool spared = !(fate.weight > 0) && policy.protects(row);
    return spared ? Fate{splits[row], 1, row, Rule::kKept} : fate;
  });
  return fates;
}

std::vector<std::int32_t> label_set(const Ragged<std::int32_t>& labels, std::uint32_t row) {
  std::vector<std::int32_t> set(labels[row].begin(), labels[row].end());
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
  return set;
}

std::vector<std::vector<std::uint32_t>> part_by_label(const Ragged<std::int32_t>& labels,
                                                      std::span<const Edge> same,
                                                      std::span<const std::uint32_t> rows) {
  const auto labelled =
      std::ranges::find_if(rows, [&](std::uint32_t row) { return !labels[row].empty(); });
  const auto first_labelled = static_cast<std::uint32_t>(
      labelled == rows.end() ? 0 : std::distance(rows.begin(), labelled));
  UnionFind alike(rows.size());
  std::map<std::vector<std::int32_t>, std::uint32_t> first_of_labels;
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    std::vector<std::int32_t> set = label_set(labels, rows[i]);
    const std::uint32_t same_labels =
        set.empty() ? first_labelled : first_of_labels.try_emplace(std::move(set), i).first->second;
    alike.unite(Edge{same_labels, i, 0});
  }
  const auto at = [&](std::uint32_t row) {
    return static_cast<std::uint32_t>(std::ranges::lower_bound(rows, row) - rows.begin());
  };
  for (const Edge& edge : same) alike.unite(Edge{at(edge.a), at(edge.b), 0});
  const Components components = std::move(alike).components();
  std::vector<std::vector<std::uint32_t>> parts(components.count);
  for (std::uint32_t i = 0; i < rows.size(); ++i) parts[components.of_row[i]].push_back(rows[i]);
  return parts;
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
