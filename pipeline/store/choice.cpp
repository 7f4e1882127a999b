#include "pipeline/store/choice.h"

#include <algorithm>
#include <string>

#include "common/error.h"

namespace winnow::pipeline {

void check_is_of(const dedup::Selection& selection, const dedup::Fingerprints& table) {
  const auto [other, id] = std::ranges::mismatch(selection.ids, table.ids);
  if (other == selection.ids.end() && id == table.ids.end()) return;
  const bool lacks = other == selection.ids.end() || (id != table.ids.end() && *id < *other);
  throw FormatError(
      "selection '" + selection.name + "' " +
      (lacks ? "lacks sample " + std::to_string(*id)
             : "names sample " + std::to_string(*other) + ", which the cache does not have") +
      "; make it again with winnow dedup");
}

Choice choose(const dedup::Fingerprints& table, std::optional<Split> split,
              const dedup::Selection* selection, bool removed_too) {
  if (selection != nullptr) check_is_of(*selection, table);
  Choice choice;
  for (std::size_t row = 0; row < table.size(); ++row) {
    const Split own = table.splits[row];
    if (split && *split != (selection != nullptr ? selection->split_of(row, own) : own)) continue;
    if (selection != nullptr && !removed_too && !(selection->weights[row] > 0)) continue;
    choice.rows.push_back(row);
  }
  if (selection != nullptr) choice.decisions = choice.rows;
  return choice;
}

void apply_splits(const dedup::Selection& selection, dedup::Fingerprints& table) {
  check_is_of(selection, table);
  if (!selection.splits.empty()) table.splits = selection.splits;
}

}  // namespace winnow::pipeline
