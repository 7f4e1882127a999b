#include "dedup/split/folds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "common/error.h"
#include "dedup/decisions/settings.h"
#include "dedup/split/deal_internal.h"

namespace winnow::dedup {
namespace {

static_assert(kMostFolds <= kMostParts && kMostFolds < kLeftOut && kNoFold == kAnyPart);

// Counts of one class.
struct FoldTally {
  std::vector<std::uint64_t> in_fold;
  std::uint64_t samples = 0;
  std::uint64_t largest_block = 0;
};

// Counts of all samples and of each class.
struct FoldCounts {
  FoldsSummary& summary;
  std::vector<FoldTally>& tallies;
};

// Adds a block to the counts, without dropped rows.
void count_block(const Fingerprints& table, std::span<const std::uint32_t> rows,
                 const SplitOptions& options, const Folds& dealt, const RowClasses& classes,
                 const FoldCounts& counts) {
  auto& [summary, tallies] = counts;
  std::uint8_t fold = kNoFold;  // shared by all distributed rows of the block
  std::vector<std::uint32_t> labels;
  for (const std::uint32_t row : rows) {
    const Split own = table.splits[row];
    if (dealt.rows.rules[row] == Rule::kLeak) {
      ++summary.left_out;
    } else if (is_fixed(options, own)) {
      ++summary.fixed[static_cast<std::size_t>(own)];
    } else {
      fold = dealt.folds[row];
      ++summary.dealt;
      ++summary.folds[fold].samples;
      classes.append(row, labels);
    }
  }
  ++summary.blocks;
  summary.largest_block = std::max<std::uint64_t>(summary.largest_block, rows.size());
  if (fold == kNoFold) return;
  ++summary.folds[fold].blocks;
  for (const ClassCount& c : count_classes(labels)) {
    FoldTally& tally = tallies[c.label];
    tally.samples += c.count;
    tally.in_fold[fold] += c.count;
    tally.largest_block = std::max<std::uint64_t>(tally.largest_block, c.count);
  }
}

// Adds a class with samples to the summary.
void add_class(const FoldTally& tally, std::optional<std::int32_t> label, FoldsSummary& summary) {
  FoldsSummary::Off furthest;
  for (std::uint32_t fold = 0; fold < summary.folds.size(); ++fold) {
    FoldsSummary::Fold& here = summary.folds[fold];
    const std::uint64_t got = tally.in_fold[fold];
    if (label) {
      here.fewest = std::min(here.fewest, got);
      here.most = std::max(here.most, got);
      here.classes += got > 0 ? 1 : 0;
    }
    const ClassOff off{
        .label = label,
        .samples = tally.samples,
        .largest_block = tally.largest_block,
        .split = Split::kVal,
        .wanted = static_cast<double>(tally.samples) / static_cast<double>(summary.folds.size()),
        .got = got,
        .reason = reason_of(false, tally.largest_block)};
    here.furthest = std::max(here.furthest, off.distance());
    if (off.distance() > furthest.off.distance()) furthest = {fold, off};
  }
  if (furthest.off.distance() > 1 + 1e-6) summary.off.push_back(furthest);
}

// The blocks of the marked rows, renumbered.
Components blocks_of(const Selection& chosen, const Fingerprints& table,
                     const std::vector<bool>& marked) {
  Components all;
  all.of_row = chosen.components;
  for (const std::uint32_t block : all.of_row) all.count = std::max(all.count, block + 1);
  all = unite_keys(all, table.group_keys);
  Components blocks;
  std::vector<std::uint32_t> numbers(all.count, kNowhere);
  for (std::size_t row = 0; row < marked.size(); ++row) {
    if (!marked[row]) continue;
    std::uint32_t& number = numbers[all.of_row[row]];
    if (number == kNowhere) number = blocks.count++;
    blocks.of_row.push_back(number);
  }
  return blocks;
}

}  // namespace

Folds deal_folds(const Fingerprints& table, const Components& blocks, const SplitOptions& options,
                 std::uint32_t count) {
  SplitOptions anywhere = options;
  anywhere.dealing.stay = false;
  Dealt dealt = deal(table, blocks, anywhere, {std::vector<double>(count, 1.0 / count), {}});
  std::vector<bool> reached(count);
  for (std::size_t row = 0; row < table.size(); ++row) {
    std::uint8_t& fold = dealt.parts[row];
    if (fold != kNoFold) {
      reached[fold] = true;
    } else if (!is_fixed(options, table.splits[row])) {
      fold = kLeftOut;
    }
  }
  if (std::ranges::find(reached, false) != reached.end()) {
    throw UsageError(std::to_string(count) + " folds need more blocks than " +
                     std::to_string(dealt.blocks) +
                     ", since duplicates and group keys stay together; ask for fewer folds");
  }
  return {std::move(dealt.rows), std::move(dealt.parts)};
}

FoldsSummary summarise_folds(const Fingerprints& table, const Components& blocks,
                             const SplitOptions& options, const Folds& dealt, std::uint32_t count) {
  FoldsSummary summary;
  summary.folds.resize(count, {.fewest = ~std::uint64_t{0}});
  const RowClasses classes(table.labels);
  std::vector<FoldTally> tallies(classes.count(), {std::vector<std::uint64_t>(count)});
  const Ragged<std::uint32_t> members = rows_by_component(blocks);
  for (std::uint32_t block = 0; block < blocks.count; ++block) {
    const std::vector<std::uint32_t> rows = remaining(members[block], options);
    if (!rows.empty()) count_block(table, rows, options, dealt, classes, {summary, tallies});
  }
  for (std::uint32_t label = 0; label < tallies.size(); ++label) {
    if (tallies[label].samples > 0) add_class(tallies[label], classes.label(label), summary);
  }
  for (FoldsSummary::Fold& fold : summary.folds) fold.fewest = std::min(fold.fewest, fold.most);
  std::ranges::stable_sort(summary.off, std::ranges::greater{},
                           [](const auto& off) { return off.off.distance(); });
  return summary;
}

FoldsResult make_folds(const ColumnSource& columns, SplitOptions options, std::uint32_t count,
                       const LinkSource& links) {
  options.dealing.stay = false;
  options.shares = {0, 1 - 1.0 / count, 1.0 / count, 0};
  BlockTable found = find_blocks(columns, options, links);
  if (std::ranges::any_of(found.table.splits, [&](Split split) {
        return is_fixed(options, split) && (split == Split::kTrain || split == Split::kVal);
      })) {
    throw UsageError(
        "with --folds all samples of train and val are distributed; name both splits with --of, or "
        "leave out --of");
  }
  Folds dealt = deal_folds(found.table, found.blocks, options, count);
  FoldsResult result;
  result.summary = summarise_folds(found.table, found.blocks, options, dealt, count);
  result.common = selection_of(found, std::move(dealt.rows), columns, options);
  result.folds = std::move(dealt.folds);
  for (std::uint32_t fold = 0; fold < count; ++fold) {
    result.settings.push_back(settings_of(options, found.hash_version, {fold + 1, count}));
  }
  return result;
}

Selection selection_of_fold(const FoldsResult& result, std::uint32_t fold) {
  Selection selection = result.common;
  selection.settings = result.settings[fold];
  for (std::size_t row = 0; row < selection.size(); ++row) {
    if (result.folds[row] == kNoFold) continue;
    selection.splits[row] = result.folds[row] == kLeftOut ? Split::kNone
                            : result.folds[row] == fold   ? Split::kVal
                                                          : Split::kTrain;
  }
  if (selection.splits == result.common.splits) selection.splits.clear();
  return selection;
}

std::vector<Selection> folds_of(const Selection& chosen, const Fingerprints& table,
                                std::uint32_t count) {
  std::vector<bool> marked(table.size());
  for (std::size_t row = 0; row < table.size(); ++row) {
    marked[row] =
        chosen.weights[row] > 0 && chosen.split_of(row, table.splits[row]) != Split::kTest;
  }
  Fingerprints rows = select_rows(table, marked);
  if (rows.size() == 0) {
    throw UsageError("there are no samples for the folds: all are removed or in test");
  }
  rows.splits.assign(rows.size(), Split::kTrain);
  const Folds dealt = deal_folds(rows, blocks_of(chosen, table, marked), {}, count);
  std::vector<Selection> selections(count, chosen);
  for (std::uint32_t fold = 0; fold < count; ++fold) {
    Selection& selection = selections[fold];
    selection.settings = with_fold(chosen.settings, {fold + 1, count});
    selection.splits.assign(table.size(), Split::kNone);
    auto fold_of = dealt.folds.begin();
    for (std::size_t row = 0; row < table.size(); ++row) {
      if (marked[row]) {
        selection.splits[row] = *fold_of++ == fold ? Split::kVal : Split::kTrain;
      }
    }
  }
  return selections;
}

}  // namespace winnow::dedup
