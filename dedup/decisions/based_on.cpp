#include "dedup/decisions/based_on.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/error.h"
#include "dedup/cluster/cluster.h"

namespace winnow::dedup {
namespace {

// Links each row to the first of its group.
void unite(const std::vector<std::uint32_t>& groups, UnionFind& rows) {
  std::vector<std::uint32_t> first;  // groups are numbered by their first rows
  std::vector<Edge> links;
  for (std::uint32_t row = 0; row < groups.size(); ++row) {
    if (groups[row] == first.size()) {
      first.push_back(row);
    } else {
      links.push_back({first[groups[row]], row, 0});
    }
  }
  rows.unite(links);
}

}  // namespace

ColumnSource with_splits_of(std::shared_ptr<const Selection> base, ColumnSource columns) {
  return [base = std::move(base), columns = std::move(columns)](const ColumnNames& names) {
    Fingerprints table = columns(names);
    if (table.ids != base->ids) {
      throw FormatError("selection '" + base->name +
                        "' does not have the same samples as the cache; make it again");
    }
    for (std::size_t row = 0; row < table.size(); ++row) {
      table.splits[row] =
          base->weights[row] > 0 ? base->split_of(row, table.splits[row]) : Split::kNone;
    }
    return table;
  };
}

void merge_base(const Selection& base, std::span<const Split> own, Result& result) {
  Selection& selection = result.selection;
  UnionFind groups(selection.size());
  unite(base.components, groups);
  unite(selection.components, groups);
  selection.components = std::move(groups).components().of_row;

  std::vector<Split> splits(selection.size());
  for (std::size_t row = 0; row < selection.size(); ++row) {
    const Split before = base.split_of(row, own[row]);
    if (base.weights[row] > 0) {
      splits[row] = selection.split_of(row, before);
      continue;
    }
    splits[row] = before;
    if (selection.weights[row] > 0) {
      --result.kept;
      ++result.removed;
    }
    if (!result.issues.empty()) result.issues[row] = {};
    // Already removed by `base`.
    if (selection.rules[row] == Rule::kReview) --result.dropped_by_review;
    selection.weights[row] = 0;
    selection.kept[row] = base.kept[row];
    selection.distances[row] = base.distances[row];
    selection.rules[row] = base.rules[row];
  }
  // Replace representatives that are now removed by their own.
  for (std::size_t row = 0; row < selection.size(); ++row) {
    const std::size_t kept = selection.row_of(selection.kept[row]);
    if (base.weights[row] > 0 && !(base.weights[kept] > 0)) selection.kept[row] = base.kept[kept];
  }
  selection.splits.clear();
  if (!std::ranges::equal(splits, own)) selection.splits = std::move(splits);
}

}  // namespace winnow::dedup
