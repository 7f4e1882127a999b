#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dedup/cluster/linked_nodes.h"
#include "dedup/decisions/deduplicate.h"

namespace winnow::dedup {

using RowLists = std::vector<std::vector<std::uint32_t>>;

// The decision for each row: split, weight, representative and why. At first every row stays.
struct Decisions {
  explicit Decisions(std::vector<Split> splits_of_table);

  bool stays(std::uint32_t row) const noexcept { return weights[row] > 0; }
  std::vector<std::uint32_t> staying() const;
  std::vector<std::uint32_t> staying_of(std::span<const std::uint32_t> rows) const;
  void take(std::span<const std::uint32_t> rows, std::span<const Fate> fates);

  std::vector<Split> splits;  // the split in which each row is used
  std::vector<float> weights;
  std::vector<std::uint32_t> kept_rows;
  std::vector<Rule> rules;
};

// First step of deduplicate(): removes the rows that reviewers dropped.
void drop_judged(const Options& options, Decisions& decisions, Result& result);
// Second step of deduplicate(): removes images with the issues of the policy.
void drop_issues(const ColumnSource& columns, const Options& options, std::span<const Split> splits,
                 Decisions& decisions, Result& result);

// Everything that decisions about groups depend on.
struct Deciding {
  const Options& options;
  const Ragged<std::int32_t>& labels;
  const RowLists& components;  // connected components of two or more rows, across all splits
  // By row: hash of its pixels, for groups that are divided by label.
  std::span<const Hash128> pixels;
};
// Decides the rows of result.groups. Then sets the splits of `table` to the decided ones.
void decide(const Deciding& by, Fingerprints& table, Decisions& decisions, Result& result);
// Finds star-shaped groups and decides their rows: each removed row is linked to the row that
// represents it. Otherwise like decide().
void decide_stars(const Deciding& by, const LinkedNodes& nodes, Fingerprints& table,
                  Decisions& decisions, Result& result);

// Steps that decide() and decide_stars() share.

std::vector<Group> describe_groups(RowLists lists, const Ragged<std::int32_t>& labels,
                                   std::span<const Split> splits);
// Links between those of `rows` (ascending) that are one picture whatever their labels: equal
// pixels, or a review says so.
std::vector<Edge> surely_same(const Deciding& by, std::span<const std::uint32_t> rows);
// Drops the rows that are in an evaluation split.
std::vector<std::uint32_t> trained_on(std::vector<std::uint32_t> rows,
                                      std::span<const Split> splits);
void count_repeated(std::span<const std::uint32_t> rows, std::span<const Split> splits,
                    Result& result);
// Removes label conflicts. Runs before leaks are settled: a picture removed from train by its
// labels leaks nowhere.
void drop_conflicts(const Deciding& by, const Fingerprints& table, Decisions& decisions,
                    const Result& result);
// Resolves the leaks of one component. Sets the splits of `table` to the decided ones. Returns the
// number of leaks left: 1 if protected samples are in several splits, else 0.
std::uint64_t settle(std::vector<std::uint32_t> rows, const Policy& policy, Fingerprints& table,
                     Decisions& decisions);

}  // namespace winnow::dedup
