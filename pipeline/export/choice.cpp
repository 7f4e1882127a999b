#include "pipeline/export/choice.h"

#include <algorithm>
#include <array>

#include "common/counted.h"
#include "common/error.h"
#include "pipeline/export/names.h"

namespace winnow::pipeline {

std::vector<std::size_t> removed_rows(const dedup::Fingerprints& table, std::optional<Split> split,
                                      const dedup::Selection& selection) {
  const Choice all = choose(table, split, &selection, true);
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < all.rows.size(); ++i) {
    if (!(selection.weights[all.decisions[i]] > 0)) rows.push_back(all.rows[i]);
  }
  return rows;
}

SelectionCounts count(const Manifest& manifest, const dedup::Fingerprints& table,
                      const dedup::Selection& selection) {
  SelectionCounts counts;
  counts.labels.resize(manifest.classes.size());
  const Choice all = choose(table, std::nullopt, &selection, true);
  for (std::size_t i = 0; i < all.rows.size(); ++i) {
    const std::size_t row = all.rows[i];
    const bool kept = selection.weights[all.decisions[i]] > 0;
    const auto split = static_cast<std::size_t>(table.splits[row]);
    const auto add = [&](SelectionCounts::Counts& to) { ++(kept ? to.kept : to.removed)[split]; };
    add(counts.all);
    const auto labels = table.labels[row];
    if (labels.empty()) add(counts.unlabelled);
    for (const std::int32_t label : labels) {
      class_name(manifest, label);  // throws if there is none
      add(counts.labels[static_cast<std::size_t>(label)]);
    }
  }
  return counts;
}

const std::string& class_name(const Manifest& manifest, std::int32_t label) {
  if (label < 0 || static_cast<std::size_t>(label) >= manifest.classes.size()) {
    throw FormatError("a sample has label " + std::to_string(label) + ", but there are only " +
                      std::to_string(manifest.classes.size()) + " classes; ingest again");
  }
  return manifest.classes[static_cast<std::size_t>(label)];
}

FolderPlan plan_folders(const Manifest& manifest, const dedup::Fingerprints& table,
                        const std::vector<std::size_t>& rows) {
  FolderPlan plan;
  plan.class_folders = folder_names(manifest.classes);
  std::array<bool, kSplitCount> splits{};
  std::size_t several = 0;
  bool labelled = false;
  bool unlabelled = false;
  bool like_a_split = false;  // a class is named like a split
  for (const std::size_t row : rows) {
    splits[static_cast<std::size_t>(table.splits[row])] = true;
    const auto labels = table.labels[row];
    (labels.empty() ? unlabelled : labelled) = true;
    several += labels.size() > 1 ? 1 : 0;
    if (labels.empty()) continue;
    const std::string& name = class_name(manifest, labels.front());
    like_a_split = like_a_split || parse_split(name).value_or(Split::kNone) != Split::kNone;
  }
  if (several > 0) {
    throw UsageError(count_of(several, "sample has", "samples have") +
                     " more than one label, which folders cannot express; export them "
                     "with --as webdataset");
  }
  const bool one_split = std::ranges::count(splits, true) <= 1;
  const bool nameless = splits[static_cast<std::size_t>(Split::kNone)];
  const bool misread = !nameless && (like_a_split || (labelled && unlabelled));
  plan.split_folders = !one_split || misread;
  return plan;
}

}  // namespace winnow::pipeline
