#include "dedup/split/split.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "common/error.h"
#include "common/rng.h"
#include "dedup/policy/policy.h"
#include "dedup/split/stratify.h"

namespace winnow::dedup {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

std::size_t index_of(Split split) noexcept { return static_cast<std::size_t>(split); }

bool is_used(Split split) noexcept { return split != Split::kNone; }

void check_shares(const SplitOptions& options) {
  const auto& shares = options.shares;
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  const bool good = std::ranges::all_of(shares, [](double s) { return s >= 0 && s <= 1; });
  if (!good || shares[0] != 0 || std::abs(sum - 1) > 1e-6) {
    throw UsageError("shares of train, val and test must be from 0 to 1 and come to 1, not to " +
                     nlohmann::json(sum).dump());
  }
}

// Classes of rows, numbered from 0: first those without labels, then labels in their order.
class Classes {
 public:
  explicit Classes(const Ragged<std::int32_t>& labels) : labels_(labels), names_(labels.values) {
    std::ranges::sort(names_);
    names_.erase(std::ranges::unique(names_).begin(), names_.end());
  }
  std::uint32_t count() const { return static_cast<std::uint32_t>(names_.size()) + 1; }
  std::optional<std::int32_t> label(std::uint32_t number) const {
    return number == 0 ? std::nullopt : std::optional(names_[number - 1]);
  }
  // Adds those of a row to `list`, each once.
  void append(std::uint32_t row, std::vector<std::uint32_t>& list) const {
    if (labels_[row].empty()) list.push_back(0);
    for (const std::int32_t label : label_set(labels_, row)) {
      const auto at = std::ranges::lower_bound(names_, label);
      list.push_back(static_cast<std::uint32_t>(at - names_.begin()) + 1);
    }
  }

 private:
  const Ragged<std::int32_t>& labels_;
  std::vector<std::int32_t> names_;
};

// The fixed row that says where a block is at home: the first of the split used last. kNone: none.
std::uint32_t home_of(const Fingerprints& table, std::span<const std::uint32_t> rows,
                      const SplitOptions& options) {
  std::uint32_t home = kNone;
  for (const std::uint32_t row : rows) {
    const Split split = table.splits[row];
    if (options.of[index_of(split)] || !is_used(split)) continue;
    if (home == kNone || split > table.splits[home]) home = row;
  }
  return home;
}

std::vector<ClassCount> count_classes(std::vector<std::uint32_t>& classes) {
  std::ranges::sort(classes);
  std::vector<ClassCount> counts;
  for (const std::uint32_t label : classes) {
    if (counts.empty() || counts.back().label != label) counts.push_back({label, 0});
    ++counts.back().count;
  }
  return counts;
}

OffReason reason_of(bool followed, std::uint64_t largest_block) {
  if (followed) return OffReason::kFixed;
  return largest_block > 1 ? OffReason::kBlock : OffReason::kLabels;
}

// `found`: settings of the deduplication that found the blocks.
std::string settings_json(const SplitOptions& options, const std::string& found) {
  nlohmann::json settings{{"verb", "split"},
                          {"seed", options.seed},
                          {"group_keys", options.group_keys},
                          {"stay", options.stay},
                          {"of", nlohmann::json::array()}};
  const nlohmann::json dedup = nlohmann::json::parse(found);
  for (const char* name : {"hash", "hash_version", "threshold"}) {
    if (dedup.contains(name)) settings[name] = dedup[name];
  }
  for (std::size_t split = 0; split < options.of.size(); ++split) {
    const std::string name(split_name(static_cast<Split>(split)));
    if (split > 0) settings["shares"][name] = options.shares[split];
    if (options.of[split]) settings["of"].push_back(name);
  }
  return settings.dump();
}

}  // namespace

double ClassOff::distance() const noexcept { return std::abs(static_cast<double>(got) - wanted); }

Components unite_keys(const Components& components, const Ragged<char>& keys) {
  UnionFind rows(components.of_row.size());
  std::vector<std::uint32_t> first_of(components.count, kNone);
  std::unordered_map<std::string_view, std::uint32_t> first_with;
  for (std::uint32_t row = 0; row < components.of_row.size(); ++row) {
    std::uint32_t& first = first_of[components.of_row[row]];
    if (first == kNone) first = row;
    std::vector<Edge> edges{{first, row, 0}};
    const std::string_view key(keys[row].data(), keys[row].size());
    if (!key.empty()) edges.push_back({first_with.try_emplace(key, row).first->second, row, 0});
    rows.unite(edges);
  }
  return std::move(rows).components();
}

Splitting split_rows(const Fingerprints& table, const Components& blocks,
                     const SplitOptions& options) {
  check_shares(options);
  Splitting out{table.splits, std::vector<std::uint32_t>(table.size()),
                std::vector<Rule>(table.size(), Rule::kKept)};
  std::iota(out.kept_rows.begin(), out.kept_rows.end(), std::uint32_t{0});
  const Classes classes(table.labels);
  Deal deal;
  deal.classes = classes.count();
  std::vector<Split> part_splits;
  for (const Split split : {Split::kTrain, Split::kVal, Split::kTest}) {
    if (options.shares[index_of(split)] == 0) continue;
    part_splits.push_back(split);
    deal.shares.push_back(options.shares[index_of(split)]);
  }
  // The part that most of these rows are in.
  const auto wish_of = [&](std::span<const std::uint32_t> list) {
    std::array<std::uint32_t, kMostParts> votes{};
    for (const std::uint32_t row : list) {
      const auto at = std::ranges::find(part_splits, table.splits[row]);
      if (at != part_splits.end()) ++votes[static_cast<std::size_t>(at - part_splits.begin())];
    }
    const auto most = std::ranges::max_element(votes);
    return *most == 0 ? kAnyPart : static_cast<std::uint8_t>(most - votes.begin());
  };
  const Ragged<std::uint32_t> members = rows_by_component(blocks);
  Ragged<std::uint32_t> dealt;  // the rows of each block that are dealt out, where there are any
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> labels;
  for (std::uint32_t block = 0; block < blocks.count; ++block) {
    const std::uint32_t home = home_of(table, members[block], options);
    const auto home_part =
        home == kNone ? part_splits.end() : std::ranges::find(part_splits, table.splits[home]);
    const auto leave_out = [&](std::uint32_t row) {
      out.kept_rows[row] = home;
      out.rules[row] = Rule::kLeak;
    };
    rows.clear();
    labels.clear();
    for (const std::uint32_t row : members[block]) {
      const Split split = table.splits[row];
      if (!options.of[index_of(split)]) {
        if (home != kNone && is_used(split) && split != table.splits[home]) leave_out(row);
      } else if (home != kNone && home_part == part_splits.end()) {
        leave_out(row);
      } else {
        if (home != kNone && split != table.splits[home]) out.rules[row] = Rule::kMoved;
        rows.push_back(row);
        classes.append(row, labels);
      }
    }
    if (rows.empty()) continue;
    dealt.push_back(rows);
    deal.blocks.push_back(count_classes(labels));
    deal.samples.push_back(static_cast<std::uint32_t>(rows.size()));
    deal.parts.push_back(
        home == kNone ? kAnyPart : static_cast<std::uint8_t>(home_part - part_splits.begin()));
    if (options.stay) deal.wishes.push_back(wish_of(rows));
    deal.keys.push_back(
        CounterRng(options.seed, 0, table.ids[rows.front()], RandomUse::kSplit).next_u64());
  }
  const std::vector<std::uint8_t> parts = deal_out(deal);
  for (std::size_t block = 0; block < parts.size(); ++block) {
    for (const std::uint32_t row : dealt[block]) out.splits[row] = part_splits[parts[block]];
  }
  return out;
}

SplitSummary summarise(const Fingerprints& table, const Components& blocks,
                       const SplitOptions& options, const Splitting& splitting) {
  struct Tally {
    std::array<std::uint64_t, kSplitCount> used{};
    std::array<std::uint64_t, kSplitCount> dealt{};
    std::uint64_t samples = 0;  // dealt
    std::uint64_t largest_block = 0;
    bool followed = false;
  };
  SplitSummary summary;
  summary.blocks = blocks.count;
  const Classes classes(table.labels);
  std::vector<Tally> tallies(classes.count());
  const Ragged<std::uint32_t> members = rows_by_component(blocks);
  std::vector<std::uint32_t> labels;
  std::vector<std::uint32_t> dealt_labels;  // of all rows of a block
  for (std::uint32_t block = 0; block < blocks.count; ++block) {
    const std::span<const std::uint32_t> rows = members[block];
    const bool followed = home_of(table, rows, options) != kNone;
    std::array<bool, kSplitCount> reached{};
    dealt_labels.clear();
    for (const std::uint32_t row : rows) {
      const bool fixed = !options.of[index_of(table.splits[row])];
      if (splitting.rules[row] == Rule::kLeak) {
        ++(fixed ? summary.leaks : summary.left_out);
        continue;
      }
      const std::size_t split = index_of(splitting.splits[row]);
      reached[split] = true;
      ++summary.parts[split].samples;
      summary.parts[split].dealt += fixed ? 0 : 1;
      summary.moved += splitting.splits[row] == table.splits[row] ? 0 : 1;
      labels.clear();
      classes.append(row, labels);
      for (const std::uint32_t label : labels) {
        ++tallies[label].used[split];
        if (fixed) continue;
        ++tallies[label].dealt[split];
        ++tallies[label].samples;
        tallies[label].followed = tallies[label].followed || followed;
        dealt_labels.push_back(label);
      }
    }
    for (std::size_t split = 0; split < reached.size(); ++split) {
      summary.parts[split].blocks += reached[split] ? 1 : 0;
    }
    summary.largest_block = std::max<std::uint64_t>(summary.largest_block, rows.size());
    for (const ClassCount& c : count_classes(dealt_labels)) {
      Tally& tally = tallies[c.label];
      tally.largest_block = std::max<std::uint64_t>(tally.largest_block, c.count);
    }
  }
  for (std::uint32_t label = 0; label < tallies.size(); ++label) {
    const Tally& tally = tallies[label];
    ClassOff off{.label = classes.label(label),
                 .samples = tally.samples,
                 .largest_block = tally.largest_block,
                 .reason = reason_of(tally.followed, tally.largest_block)};
    for (std::size_t split = 0; split < tally.used.size(); ++split) {
      summary.parts[split].classes += label > 0 && tally.used[split] > 0 ? 1 : 0;
      if (split == 0) continue;
      ClassOff here = off;
      here.split = static_cast<Split>(split);
      here.wanted = static_cast<double>(tally.samples) * options.shares[split];
      here.got = tally.dealt[split];
      if (here.distance() > off.distance()) off = here;
    }
    summary.furthest = std::max(summary.furthest, off.distance());
    if (off.distance() > 1 + 1e-6) summary.off.push_back(off);
  }
  std::ranges::stable_sort(summary.off, std::ranges::greater{}, &ClassOff::distance);
  return summary;
}

SplitResult make_splits(const ColumnSource& columns, const SplitOptions& options,
                        const LinkSource& links) {
  check_shares(options);
  Result found =
      deduplicate(columns, {.hash = options.hash, .threshold = options.threshold}, links);
  SplitResult result;
  Selection& selection = result.selection;
  selection.settings = settings_json(options, found.selection.settings);
  Components blocks{std::move(found.selection.groups), 0};
  for (const std::uint32_t block : blocks.of_row) blocks.count = std::max(blocks.count, block + 1);
  found = {};
  Fingerprints table = columns({"labels", "groups"});
  if (options.group_keys) blocks = unite_keys(blocks, table.group_keys);
  if (std::ranges::none_of(table.splits, [&](Split s) { return options.of[index_of(s)]; })) {
    throw UsageError(
        "there is no sample in the splits that are to be dealt out; name others with --of");
  }
  Splitting splitting = split_rows(table, blocks, options);
  result.summary = summarise(table, blocks, options, splitting);

  selection.distances.assign(table.size(), 0);
  for (std::uint32_t row = 0; row < table.size(); ++row) {
    selection.kept.push_back(table.ids[splitting.kept_rows[row]]);
    selection.weights.push_back(splitting.rules[row] == Rule::kLeak ? 0.0F : 1.0F);
  }
  if (options.hash != kExact) {
    const Fingerprints coded = columns({"codes:" + options.hash});
    measure_distances(codes_of(coded, options.hash), columns, splitting.kept_rows,
                      selection.distances);
  }
  selection.ids = std::move(table.ids);
  selection.groups = std::move(blocks.of_row);
  selection.rules = std::move(splitting.rules);
  if (splitting.splits != table.splits) selection.splits = std::move(splitting.splits);
  return result;
}

}  // namespace winnow::dedup
