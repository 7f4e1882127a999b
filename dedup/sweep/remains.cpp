#include "dedup/sweep/remains.h"

#include <algorithm>
#include <vector>

#include "dedup/policy/policy.h"

namespace winnow::dedup {

Remains remains_of(const Selection& selection, const Fingerprints& table,
                   std::span<const std::uint32_t> duplicates) {
  std::vector<std::vector<std::uint32_t>> trained(selection.size());  // rows of each group
  for (std::uint32_t row = 0; row < selection.size(); ++row) {
    if (selection.split_of(row, table.splits[row]) == Split::kTrain && selection.weights[row] > 0) {
      trained[duplicates[row]].push_back(row);
    }
  }
  Remains remains;
  for (std::uint32_t row = 0; row < selection.size(); ++row) {
    if (table.splits[row] == Split::kTest && !trained[duplicates[row]].empty()) ++remains.leaks;
  }
  remains.conflicts =
      static_cast<std::uint64_t>(std::ranges::count_if(trained, [&](const auto& rows) {
        return rows.size() > 1 && labels_differ(table.labels, rows);
      }));
  return remains;
}

}  // namespace winnow::dedup
