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
#include "dedup/review/decided.h"
#include "dedup/settings.h"
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
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
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

// The rows of a block but for those that people dropped.
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

// The splits that get a share: the parts of a StratifyInput.
struct Parts {
  std::vector<Split> splits;
  std::vector<double> shares;

  explicit Parts(const SplitOptions& options) {
    for (const Split split : {Split::kTrain, Split::kVal, Split::kTest}) {
      if (options.shares[index_of(split)] == 0) continue;
      splits.push_back(split);
      shares.push_back(options.shares[index_of(split)]);
    }
  }
  // kAnyPart: it gets no share.
  std::uint8_t of(Split split) const {
    const auto at = std::ranges::find(splits, split);
    return at == splits.end() ? kAnyPart : static_cast<std::uint8_t>(at - splits.begin());
  }
  // The part that most of these rows are in; kAnyPart: they are in none.
  std::uint8_t of_most(const Fingerprints& table, std::span<const std::uint32_t> rows) const {
    std::array<std::uint32_t, kMostParts> votes{};
    for (const std::uint32_t row : rows) {
      if (const std::uint8_t part = of(table.splits[row]); part != kAnyPart) ++votes[part];
    }
    const auto most = std::ranges::max_element(votes);
    return *most == 0 ? kAnyPart : static_cast<std::uint8_t>(most - votes.begin());
  }
};

// The rows of a block that are to be assigned, all to the part of `home` where it has one. Says in
// `out` which rows are left out and which follow `home` out of their splits.
std::vector<std::uint32_t> rows_to_assign(const Fingerprints& table,
                                          std::span<const std::uint32_t> block, std::uint32_t home,
                                          bool home_has_share, const SplitOptions& options,
                                          Splitting& out) {
  std::vector<std::uint32_t> rows;
  for (const std::uint32_t row : block) {
    const Split split = table.splits[row];
    const bool fixed = !options.of[index_of(split)];
    const bool elsewhere = home != kNone && split != table.splits[home];
    const bool left_out = fixed ? elsewhere && is_used(split) : home != kNone && !home_has_share;
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

// What is counted of a class.
struct ClassTally {
  std::array<std::uint64_t, kSplitCount> used{};
  std::array<std::uint64_t, kSplitCount> dealt{};
  std::uint64_t samples = 0;  // dealt
  std::uint64_t largest_block = 0;
  bool followed = false;
};

// A block as it was split.
struct SplitBlock {
  std::span<const std::uint32_t> rows;
  bool followed;  // a fixed row
};

// Adds a block to what is counted.
void count_block(const Fingerprints& table, const SplitBlock& block, const SplitOptions& options,
                 const Splitting& splitting, const Classes& classes, SplitSummary& summary,
                 std::vector<ClassTally>& tallies) {
  std::array<bool, kSplitCount> reached{};
  std::vector<std::uint32_t> labels;
  std::vector<std::uint32_t> dealt_labels;  // of all rows
  for (const std::uint32_t row : block.rows) {
    const Split own = table.splits[row];
    const bool fixed = !options.of[index_of(own)];
    if (splitting.rules[row] == Rule::kLeak) {
      ++(fixed ? summary.leaks : summary.left_out);
      continue;
    }
    const std::size_t split = index_of(splitting.splits[row]);
    reached[split] = true;
    ++summary.parts[split].samples;
    summary.parts[split].dealt += fixed ? 0 : 1;
    summary.moved += is_used(own) && splitting.splits[row] != own ? 1 : 0;
    labels.clear();
    classes.append(row, labels);
    for (const std::uint32_t label : labels) {
      ++tallies[label].used[split];
      if (fixed) continue;
      ++tallies[label].dealt[split];
      ++tallies[label].samples;
      tallies[label].followed = tallies[label].followed || block.followed;
      dealt_labels.push_back(label);
    }
  }
  for (std::size_t split = 0; split < reached.size(); ++split) {
    summary.parts[split].blocks += reached[split] ? 1 : 0;
  }
  summary.largest_block = std::max<std::uint64_t>(summary.largest_block, block.rows.size());
  for (const ClassCount& c : count_classes(dealt_labels)) {
    tallies[c.label].largest_block =
        std::max<std::uint64_t>(tallies[c.label].largest_block, c.count);
  }
}

// Where a class is furthest off its share.
ClassOff off_of(const ClassTally& tally, std::optional<std::int32_t> label,
                const SplitOptions& options) {
  ClassOff off{.label = label,
               .samples = tally.samples,
               .largest_block = tally.largest_block,
               .reason = reason_of(tally.followed, tally.largest_block)};
  for (const Split split : {Split::kTrain, Split::kVal, Split::kTest}) {
    ClassOff here = off;
    here.split = split;
    here.wanted = static_cast<double>(tally.samples) * options.shares[index_of(split)];
    here.got = tally.dealt[index_of(split)];
    if (here.distance() > off.distance()) off = here;
  }
  return off;
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
  if (options.decided) {
    for (const std::uint32_t row : options.decided->dropped) out.rules[row] = Rule::kReview;
  }
  const Classes classes(table.labels);
  const Parts parts(options);
  StratifyInput input;
  input.classes = classes.count();
  input.shares = parts.shares;
  const Ragged<std::uint32_t> members = rows_by_component(blocks);
  Ragged<std::uint32_t> assigned;  // the rows of each block that has any to be assigned
  std::vector<std::uint32_t> labels;
  for (std::uint32_t block = 0; block < blocks.count; ++block) {
    const std::vector<std::uint32_t> here = remaining(members[block], options);
    const std::uint32_t home = home_of(table, here, options);
    const std::uint8_t home_part = home == kNone ? kAnyPart : parts.of(table.splits[home]);
    const std::vector<std::uint32_t> rows =
        rows_to_assign(table, here, home, home_part != kAnyPart, options, out);
    if (rows.empty()) continue;
    labels.clear();
    for (const std::uint32_t row : rows) classes.append(row, labels);
    assigned.push_back(rows);
    input.blocks.push_back(count_classes(labels));
    input.samples.push_back(static_cast<std::uint32_t>(rows.size()));
    input.parts.push_back(home_part);
    if (options.dealing.stay) input.wishes.push_back(parts.of_most(table, rows));
    input.keys.push_back(
        CounterRng(options.dealing.seed, 0, table.ids[rows.front()], RandomUse::kSplit).next_u64());
  }
  const std::vector<std::uint8_t> part_of = assign_stratified(input);
  for (std::size_t block = 0; block < part_of.size(); ++block) {
    for (const std::uint32_t row : assigned[block]) out.splits[row] = parts.splits[part_of[block]];
  }
  return out;
}

SplitSummary summarise(const Fingerprints& table, const Components& blocks,
                       const SplitOptions& options, const Splitting& splitting) {
  SplitSummary summary;
  summary.blocks = blocks.count;
  const Classes classes(table.labels);
  std::vector<ClassTally> tallies(classes.count());
  const Ragged<std::uint32_t> members = rows_by_component(blocks);
  for (std::uint32_t block = 0; block < blocks.count; ++block) {
    const std::vector<std::uint32_t> rows = remaining(members[block], options);
    if (rows.empty()) {
      --summary.blocks;
      continue;
    }
    count_block(table, {rows, home_of(table, rows, options) != kNone}, options, splitting, classes,
                summary, tallies);
  }
  for (std::uint32_t label = 0; label < tallies.size(); ++label) {
    for (std::size_t split = 0; split < kSplitCount; ++split) {
      summary.parts[split].classes += label > 0 && tallies[label].used[split] > 0 ? 1 : 0;
    }
    const ClassOff off = off_of(tallies[label], classes.label(label), options);
    summary.furthest = std::max(summary.furthest, off.distance());
    if (off.distance() > 1 + 1e-6) summary.off.push_back(off);
  }
  std::ranges::stable_sort(summary.off, std::ranges::greater{}, &ClassOff::distance);
  return summary;
}

SplitResult make_splits(const ColumnSource& columns, const SplitOptions& options,
                        const LinkSource& links) {
  check_shares(options);
  Result found = deduplicate(columns,
                             {.hash = options.hash,
                              .threshold = options.threshold,
                              .decided = options.decided,
                              .least_quality = options.least_quality},
                             links);
  SplitResult result;
  Selection& selection = result.selection;
  Components blocks{std::move(found.selection.components), 0};
  for (const std::uint32_t block : blocks.of_row) blocks.count = std::max(blocks.count, block + 1);
  found = {};
  Fingerprints table = columns({"labels", "groups"});
  if (options.dealing.group_keys) blocks = unite_keys(blocks, table.group_keys);
  if (std::ranges::none_of(table.splits, [&](Split s) { return options.of[index_of(s)]; })) {
    throw UsageError(
        "there is no sample in the splits that are to be dealt out; name others with --of");
  }
  Splitting splitting = split_rows(table, blocks, options);
  result.summary = summarise(table, blocks, options, splitting);

  selection.distances.assign(table.size(), 0);
  for (std::uint32_t row = 0; row < table.size(); ++row) {
    selection.kept.push_back(table.ids[splitting.kept_rows[row]]);
    const Rule rule = splitting.rules[row];
    selection.weights.push_back(rule == Rule::kLeak || rule == Rule::kReview ? 0.0F : 1.0F);
  }
  std::optional<std::uint32_t> hash_version;
  if (options.hash != kExact) {
    const Fingerprints coded = columns({"codes:" + options.hash});
    const CodeColumn& codes = codes_of(coded, options.hash);
    hash_version = codes.version;
    measure_distances(codes, columns, splitting.kept_rows, selection.distances);
  }
  selection.settings = settings_of(options, hash_version);
  selection.ids = std::move(table.ids);
  selection.components = std::move(blocks.of_row);
  selection.rules = std::move(splitting.rules);
  if (splitting.splits != table.splits) selection.splits = std::move(splitting.splits);
  return result;
}

}  // namespace winnow::dedup
