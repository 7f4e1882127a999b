#include "dedup/decisions/combine.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "common/error.h"
#include "dedup/cluster/cluster.h"

namespace winnow::dedup {
namespace {

void check_same_samples(const Selection& a, const Selection& b) {
  if (a.ids == b.ids && a.cache_digest == b.cache_digest) return;
  throw UsageError("selections '" + a.name + "' and '" + b.name +
                   "' are of different caches; combine those of one cache");
}

void link_groups(const Selection& selection, UnionFind& rows) {
  std::vector<std::uint32_t> first;  // groups are numbered by their first rows
  for (std::uint32_t row = 0; row < selection.size(); ++row) {
    const std::uint32_t group = selection.components[row];
    if (group == first.size()) {
      first.push_back(row);
    } else {
      rows.unite(Edge{first[group], row, 0});
    }
  }
}

std::vector<std::uint32_t> groups_of_either(const Selection& a, const Selection& b) {
  UnionFind rows(a.size());
  link_groups(a, rows);
  link_groups(b, rows);
  return std::move(rows).components().of_row;
}

// The splits of `a`. If both have splits, a sample that both keep must be used in one split.
std::vector<Split> splits_of_either(const Selection& a, const Selection& b) {
  if (a.splits.empty() || b.splits.empty()) return a.splits.empty() ? b.splits : a.splits;
  std::vector<Split> splits = a.splits;
  for (std::size_t row = 0; row < a.size(); ++row) {
    if (!(b.weights[row] > 0)) continue;
    if (a.weights[row] > 0 && a.splits[row] != b.splits[row]) {
      throw UsageError("selections '" + a.name + "' and '" + b.name + "' use sample " +
                       std::to_string(a.ids[row]) +
                       " in different splits; combine selections that were made on the same splits "
                       "(winnow dedup --splits)");
    }
    splits[row] = b.splits[row];
  }
  return splits;
}

void copy_row(const Selection& from, std::size_t row, Selection& to) {
  to.kept[row] = from.kept[row];
  to.distances[row] = from.distances[row];
  to.rules[row] = from.rules[row];
}

// Makes the row its own representative, for that reason.
void set_alone(std::size_t row, Rule rule, Selection& selection) {
  selection.kept[row] = selection.ids[row];
  selection.distances[row] = 0;
  selection.rules[row] = rule;
}

bool is_kept(const Selection& selection, std::size_t row) { return selection.weights[row] > 0; }

SelectionMode mode_for(SelectionMode before, const std::vector<float>& weights) {
  if (before == SelectionMode::kOnePerGroup) return before;
  const bool whole = std::ranges::all_of(weights, [](float w) { return w == 0 || w == 1; });
  return whole ? SelectionMode::kKeep : SelectionMode::kWeight;
}

// `a` with the groups and splits of both, and without settings.
Selection beginning_of(const Selection& a, const Selection& b) {
  check_same_samples(a, b);
  Selection made = a;
  made.settings.clear();
  made.components = groups_of_either(a, b);
  made.splits = splits_of_either(a, b);
  return made;
}

}  // namespace

Selection both(const Selection& a, const Selection& b) {
  Selection made = beginning_of(a, b);
  const bool turns_of_b =
      a.mode != SelectionMode::kOnePerGroup && b.mode == SelectionMode::kOnePerGroup;
  for (std::size_t row = 0; row < a.size(); ++row) {
    made.weights[row] = a.weights[row] * b.weights[row];
    const bool only_a = is_kept(a, row) && !is_kept(b, row);
    if (only_a || (turns_of_b && is_kept(made, row))) copy_row(b, row, made);
  }
  made.mode = mode_for(turns_of_b ? b.mode : a.mode, made.weights);
  return made;
}

Selection either(const Selection& a, const Selection& b) {
  Selection made = beginning_of(a, b);
  for (std::size_t row = 0; row < a.size(); ++row) {
    made.weights[row] = std::max(a.weights[row], b.weights[row]);
    if (!is_kept(a, row) && is_kept(b, row)) set_alone(row, b.rules[row], made);
  }
  made.mode = mode_for(a.mode, made.weights);
  return made;
}

Selection without(const Selection& a, const Selection& b) {
  Selection made = beginning_of(a, b);
  for (std::size_t row = 0; row < a.size(); ++row) {
    if (!is_kept(a, row) || !is_kept(b, row)) continue;
    made.weights[row] = 0;
    set_alone(row, Rule::kReview, made);
  }
  made.mode = mode_for(a.mode, made.weights);
  return made;
}

Selection with_weights(const Selection& selection, std::span<const float> weights) {
  if (weights.size() != selection.size()) {
    throw UsageError("there are " + std::to_string(weights.size()) + " weights for " +
                     std::to_string(selection.size()) +
                     " samples; give one for each, in the order of their ids");
  }
  Selection made = selection;
  made.settings.clear();
  for (std::size_t row = 0; row < weights.size(); ++row) {
    const float weight = weights[row];
    if (!std::isfinite(weight) || weight < 0) {
      throw UsageError("the weight of sample " + std::to_string(selection.ids[row]) +
                       " is negative or no number; give 0 to leave it out, or more");
    }
    made.weights[row] = weight == 0 ? 0.0F : weight;  // no negative zero
    if (is_kept(selection, row) && weight == 0) set_alone(row, Rule::kReview, made);
    if (!is_kept(selection, row) && weight > 0) set_alone(row, Rule::kKept, made);
  }
  made.mode = mode_for(selection.mode, made.weights);
  return made;
}

}  // namespace winnow::dedup
