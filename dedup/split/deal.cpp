#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "common/error.h"
#include "common/rng.h"
#include "dedup/policy/policy.h"
#include "dedup/review/decided.h"
#include "dedup/split/deal_internal.h"

namespace winnow::dedup {
namespace {

// The rows of a block to be distributed, all to the part of `home` if it has one. Records in `out`
// which rows are left out and which follow `home` out of their splits.
std::vector<std::uint32_t> rows_to_deal(const Fingerprints& table,
                                        std::span<const std::uint32_t> block, std::uint32_t home,
                                        bool home_has_share, const SplitOptions& options,
                                        Splitting& out) {
  std::vector<std::uint32_t> rows;
  for (const std::uint32_t row : block) {
    const Split split = table.splits[row];
    const bool fixed = is_fixed(options, split);
    const bool elsewhere = home != kNowhere && split != table.splits[home];
    const bool left_out = fixed ? elsewhere && is_used(split) : home != kNowhere && !home_has_share;
    if (left_out) {
      out.kept_rows[row] = home;
      out.rules[row] = Rule::kLeak;
    } else if (!fixed) {
      if (elsewhere) out.rules[row] = Rule::kMoved;
      rows.push_back(row);
    }
  }
  return rows;
}

}  // namespace

RowClasses::RowClasses(const Ragged<std::int32_t>& labels)
    : labels_(labels), names_(labels.values) {
  std::ranges::sort(names_);
  names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
}

std::optional<std::int32_t> RowClasses::label(std::uint32_t number) const {
  return number == 0 ? std::nullopt : std::optional(names_[number - 1]);
}

void RowClasses::append(std::uint32_t row, std::vector<std::uint32_t>& list) const {
  if (labels_[row].empty()) list.push_back(0);
  for (const std::int32_t label : label_set(labels_, row)) {
    const auto at = std::ranges::lower_bound(names_, label);
    list.push_back(static_cast<std::uint32_t>(at - names_.begin()) + 1);
  }
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

std::vector<std::uint32_t> remaining(std::span<const std::uint32_t> block,
                                     const SplitOptions& options) {
  std::vector<std::uint32_t> rows(block.begin(), block.end());
  if (options.decided && !options.decided->dropped.empty()) {
    std::erase_if(rows, [&](std::uint32_t row) {
      return std::ranges::binary_search(options.decided->dropped, row);
    });
  }
  return rows;
}

std::uint32_t home_of(const Fingerprints& table, std::span<const std::uint32_t> rows,
                      const SplitOptions& options) {
  std::uint32_t home = kNowhere;
  for (const std::uint32_t row : rows) {
    const Split split = table.splits[row];
    if (!is_fixed(options, split) || !is_used(split)) continue;
    if (home == kNowhere || split > table.splits[home]) home = row;
  }
  return home;
}

OffReason reason_of(bool followed, std::uint64_t largest_block) noexcept {
  if (followed) return OffReason::kFixed;
  return largest_block > 1 ? OffReason::kBlock : OffReason::kLabels;
}

std::uint8_t Parts::of(Split split) const {
  const auto at = std::ranges::find(splits, split);
  return at == splits.end() ? kAnyPart : static_cast<std::uint8_t>(at - splits.begin());
}

std::uint8_t Parts::of_most(const Fingerprints& table, std::span<const std::uint32_t> rows) const {
  std::array<std::uint32_t, kSplitCount> votes{};
  for (const std::uint32_t row : rows) {
    if (const std::uint8_t part = of(table.splits[row]); part != kAnyPart) ++votes[part];
  }
  const auto most = std::ranges::max_element(votes);
  return *most == 0 ? kAnyPart : static_cast<std::uint8_t>(most - votes.begin());
}

Dealt deal(const Fingerprints& table, const Components& blocks, const SplitOptions& options,
           const Parts& parts) {
  Dealt out{{table.splits, std::vector<std::uint32_t>(table.size()),
             std::vector<Rule>(table.size(), Rule::kKept)},
            std::vector<std::uint8_t>(table.size(), kAnyPart)};
  std::iota(out.rows.kept_rows.begin(), out.rows.kept_rows.end(), std::uint32_t{0});
  if (options.decided) {
    for (const std::uint32_t row : options.decided->dropped) out.rows.rules[row] = Rule::kReview;
  }
  const RowClasses classes(table.labels);
  StratifyInput input;
  input.classes = classes.count();
  input.shares = parts.shares;
  const Ragged<std::uint32_t> members = rows_by_component(blocks);
  Ragged<std::uint32_t> dealt;  // the rows to distribute of each block that has any
  std::vector<std::uint32_t> labels;
  for (std::uint32_t block = 0; block < blocks.count; ++block) {
    const std::vector<std::uint32_t> here = remaining(members[block], options);
    const std::uint32_t home = home_of(table, here, options);
    const std::uint8_t home_part = home == kNowhere ? kAnyPart : parts.of(table.splits[home]);
    const std::vector<std::uint32_t> rows =
        rows_to_deal(table, here, home, home_part != kAnyPart, options, out.rows);
    if (rows.empty()) continue;
    labels.clear();
    for (const std::uint32_t row : rows) classes.append(row, labels);
    dealt.push_back(rows);
    input.blocks.push_back(count_classes(labels));
    input.samples.push_back(static_cast<std::uint32_t>(rows.size()));
    input.parts.push_back(home_part);
    if (options.dealing.stay) input.wishes.push_back(parts.of_most(table, rows));
    input.keys.push_back(
        CounterRng(options.dealing.seed, 0, table.ids[rows.front()], RandomUse::kSplit).next_u64());
  }
  const std::vector<std::uint8_t> part_of = assign_stratified(input);
  for (std::size_t block = 0; block < part_of.size(); ++block) {
    for (const std::uint32_t row : dealt[block]) out.parts[row] = part_of[block];
  }
  out.blocks = part_of.size();
  return out;
}

Components unite_keys(const Components& components, const Ragged<char>& keys) {
  UnionFind rows(components.of_row.size());
  std::vector<std::uint32_t> first_of(components.count, kNowhere);
  std::unordered_map<std::string_view, std::uint32_t> first_with;
  for (std::uint32_t row = 0; row < components.of_row.size(); ++row) {
    std::uint32_t& first = first_of[components.of_row[row]];
    if (first == kNowhere) first = row;
    std::vector<Edge> edges{{first, row, 0}};
    const std::string_view key(keys[row].data(), keys[row].size());
    if (!key.empty()) edges.push_back({first_with.try_emplace(key, row).first->second, row, 0});
    rows.unite(edges);
  }
  return std::move(rows).components();
}

BlockTable find_blocks(const ColumnSource& columns, const SplitOptions& options,
                       const LinkSource& links) {
  Options searched;
  searched.hash = options.hash;
  searched.threshold = options.threshold;
  searched.groups = GroupKind::kComponents;
  searched.decided = options.decided;
  searched.matching = options.matching;
  Result result = deduplicate(columns, searched, links);
  BlockTable found;
  found.blocks.of_row = std::move(result.selection.components);
  for (const std::uint32_t block : found.blocks.of_row) {
    found.blocks.count = std::max(found.blocks.count, block + 1);
  }
  result = {};
  found.table = columns({"labels", "groups"});
  if (options.dealing.group_keys) found.blocks = unite_keys(found.blocks, found.table.group_keys);
  if (std::ranges::all_of(found.table.splits, [&](Split s) { return is_fixed(options, s); })) {
    throw UsageError("the splits to distribute have no samples; name others with --of");
  }
  return found;
}

Selection selection_of(BlockTable& found, Splitting splitting, const ColumnSource& columns,
                       const SplitOptions& options) {
  Selection selection;
  const std::vector<SampleId>& ids = found.table.ids;
  selection.distances.assign(ids.size(), 0);
  for (std::size_t row = 0; row < ids.size(); ++row) {
    selection.kept.push_back(ids[splitting.kept_rows[row]]);
    const Rule rule = splitting.rules[row];
    selection.weights.push_back(rule == Rule::kLeak || rule == Rule::kReview ? 0.0F : 1.0F);
  }
  if (options.hash != kExact) {
    const Fingerprints coded = columns({"codes:" + options.hash});
    const CodeColumn& codes = codes_of(coded, options.hash);
    found.hash_version = codes.version;
    measure_distances(codes, columns, splitting.kept_rows, selection.distances);
  }
  selection.ids = std::move(found.table.ids);
  selection.components = std::move(found.blocks.of_row);
  selection.rules = std::move(splitting.rules);
  selection.splits = std::move(splitting.splits);
  return selection;
}

}  // namespace winnow::dedup
