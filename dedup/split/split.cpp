#include "dedup/split/split.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "common/error.h"
#include "common/json.h"
#include "dedup/decisions/settings.h"
#include "dedup/split/deal_internal.h"

namespace winnow::dedup {
namespace {

std::size_t index_of(Split split) noexcept { return static_cast<std::size_t>(split); }

void check_shares(const SplitOptions& options) {
  const auto& shares = options.shares;
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  const bool good = std::ranges::all_of(shares, [](double s) { return s >= 0 && s <= 1; });
  if (!good || shares[0] != 0 || std::abs(sum - 1) > 1e-6) {
    throw UsageError("shares of train, val and test must be from 0 to 1 and add up to 1, not " +
                     Json(sum).dump());
  }
}

Parts splits_with_share(const SplitOptions& options) {
  Parts parts;
  for (const Split split : {Split::kTrain, Split::kVal, Split::kTest}) {
    if (options.shares[index_of(split)] == 0) continue;
    parts.splits.push_back(split);
    parts.shares.push_back(options.shares[index_of(split)]);
  }
  return parts;
}

// Counts of one class.
struct SplitTally {
  std::array<std::uint64_t, kSplitCount> used{};
  std::array<std::uint64_t, kSplitCount> dealt{};
  std::uint64_t samples = 0;  // distributed
  std::uint64_t largest_block = 0;
  bool followed = false;
};

// A block after splitting.
struct SplitBlock {
  std::span<const std::uint32_t> rows;
  bool followed;  // a fixed row
};

// Counts of all samples and of each class.
struct SplitCounts {
  SplitSummary& summary;
  std::vector<SplitTally>& tallies;
};

// Adds a block to the counts.
void count_block(const Fingerprints& table, const SplitBlock& block, const SplitOptions& options,
                 const Splitting& splitting, const RowClasses& classes, const SplitCounts& counts) {
  auto& [summary, tallies] = counts;
  std::array<bool, kSplitCount> reached{};
  std::vector<std::uint32_t> labels;
  std::vector<std::uint32_t> dealt_labels;  // labels of all rows
  for (const std::uint32_t row : block.rows) {
    const Split own = table.splits[row];
    const bool fixed = is_fixed(options, own);
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

// The greatest deviation of a class from its share.
ClassOff off_of(const SplitTally& tally, std::optional<std::int32_t> label,
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

// Throws if a split that should have images has none.
void check_reached(const SplitOptions& options, const SplitSummary& summary) {
  std::uint64_t dealt = 0;
  std::size_t wanted = 0;
  for (const SplitSummary::Part& part : summary.parts) dealt += part.dealt;
  for (const double share : options.shares) wanted += share > 0 ? 1 : 0;
  std::string empty;
  for (const Split split : {Split::kTrain, Split::kVal, Split::kTest}) {
    const double share = options.shares[index_of(split)];
    if (share == 0 || summary.parts[index_of(split)].samples > 0) continue;
    const bool is_due = summary.blocks < wanted || share * static_cast<double>(dealt) >= 1 - 1e-6;
    if (is_due) empty += (empty.empty() ? "" : " and ") + std::string(split_name(split));
  }
  if (empty.empty()) return;
  throw UsageError("there is nothing left for " + empty + ": the " + std::to_string(dealt) +
                   " samples to distribute are " + std::to_string(summary.blocks) +
                   (summary.blocks == 1 ? " block" : " blocks") +
                   ", since duplicates and group keys stay together; ask for fewer splits or other "
                   "shares, or check why the blocks are so large");
}

}  // namespace

double ClassOff::distance() const noexcept { return std::abs(static_cast<double>(got) - wanted); }

Splitting split_rows(const Fingerprints& table, const Components& blocks,
                     const SplitOptions& options) {
  check_shares(options);
  const Parts parts = splits_with_share(options);
  Dealt dealt = deal(table, blocks, options, parts);
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (dealt.parts[row] != kAnyPart) dealt.rows.splits[row] = parts.splits[dealt.parts[row]];
  }
  return std::move(dealt.rows);
}

SplitSummary summarise(const Fingerprints& table, const Components& blocks,
                       const SplitOptions& options, const Splitting& splitting) {
  SplitSummary summary;
  summary.blocks = blocks.count;
  const RowClasses classes(table.labels);
  std::vector<SplitTally> tallies(classes.count());
  const Ragged<std::uint32_t> members = rows_by_component(blocks);
  for (std::uint32_t block = 0; block < blocks.count; ++block) {
    const std::vector<std::uint32_t> rows = remaining(members[block], options);
    if (rows.empty()) {
      --summary.blocks;
      continue;
    }
    count_block(table, {rows, home_of(table, rows, options) != kNowhere}, options, splitting,
                classes, {summary, tallies});
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
  BlockTable found = find_blocks(columns, options, links);
  Splitting splitting = split_rows(found.table, found.blocks, options);
  SplitResult result;
  result.summary = summarise(found.table, found.blocks, options, splitting);
  check_reached(options, result.summary);
  result.selection = selection_of(found, std::move(splitting), columns, options);
  if (result.selection.splits == found.table.splits) result.selection.splits.clear();
  result.selection.settings = settings_of(options, found.hash_version);
  return result;
}

}  // namespace winnow::dedup
