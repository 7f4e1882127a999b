#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dedup/cluster/linked_nodes.h"
#include "dedup/deduplicate.h"

namespace winnow::dedup {

using RowLists = std::vector<std::vector<std::uint32_t>>;

// What is decided of each row, first that all stay.
struct Decisions {
  explicit Decisions(std::vector<Split> splits_of_table);

  bool stays(std::uint32_t row) const noexcept { return weights[row] > 0; }
  std::vector<std::uint32_t> staying() const;
  std::vector<std::uint32_t> staying_of(std::span<const std::uint32_t> rows) const;
  void take(std::span<const std::uint32_t> rows, std::span<const Fate> fates);

  std::vector<Split> splits;  // in which each is used
  std::vector<float> weights;
  std::vector<std::uint32_t> kept_rows;
  std::vector<Rule> rules;
};

// First of all, what people said is to go.
void drop_judged(const Options& options, Decisions& decisions, Result& result);
// Then what nobody wants to look at.
void drop_issues(const ColumnSource& columns, const Options& options, std::span<const Split> splits,
                 Decisions& decisions, Result& result);

// What is decided by.
struct Deciding {
  const Options& options;
  const Ragged<std::int32_t>& labels;
  const RowLists& components;       // across all splits, of two rows or more
  std::span<const Hash128> pixels;  // of the rows, where groups are parted by label
};
// Of result.groups. `table`: its splits become those decided.
void decide(const Deciding& by, Fingerprints& table, Decisions& decisions, Result& result);
// Finds the groups, which are stars, and decides what becomes of their rows: what goes is linked to
// what stays in its place. Else as above.
void decide_stars(const Deciding& by, const LinkedNodes& nodes, Fingerprints& table,
                  Decisions& decisions, Result& result);

// Steps of both.

std::vector<Group> describe_groups(RowLists lists, const Ragged<std::int32_t>& labels,
                                   std::span<const Split> splits);
// Of these rows, which ascend, those that are one picture whatever their labels, as links.
std::vector<Edge> surely_same(const Deciding& by, std::span<const std::uint32_t> rows);
// Rows of no evaluation split.
std::vector<std::uint32_t> trained_on(std::vector<std::uint32_t> rows,
                                      std::span<const Split> splits);
void count_repeated(std::span<const std::uint32_t> rows, std::span<const Split> splits,
                    Result& result);
// Before what leaks is settled, for a picture that leaves train by its labels leaks nowhere.
void drop_conflicts(const Deciding& by, const Fingerprints& table, Decisions& decisions,
                    const Result& result);
// Of a component. `table`: its splits are put to what is decided of them. Returns how many leaks
// are left: 1 where protected samples lie in several splits.
std::uint64_t settle(std::vector<std::uint32_t> rows, const Policy& policy, Fingerprints& table,
                     Decisions& decisions);

}  // namespace winnow::dedup
