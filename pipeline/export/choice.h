#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dedup/table/fingerprints.h"
#include "dedup/table/selection.h"
#include "pipeline/store/choice.h"
#include "pipeline/store/manifest.h"

namespace winnow::pipeline {

// The rows that `selection` removes, of `split` or of all splits, ascending. Throws as choose().
std::vector<std::size_t> removed_rows(const dedup::Fingerprints& table, std::optional<Split> split,
                                      const dedup::Selection& selection);

// Number of samples that a selection keeps and removes, by split and by label. A sample with
// several labels counts for each.
struct SelectionCounts {
  using BySplit = std::array<std::uint64_t, kSplitCount>;
  struct Counts {
    BySplit kept{};
    BySplit removed{};
  };
  Counts all;
  std::vector<Counts> labels;  // counts of each class, in the order of manifest.classes
  Counts unlabelled;
};
// Counts the samples of `table`, which has labels, by its splits. Throws FormatError if the
// selection lacks a row, or a label has no class.
SelectionCounts count(const Manifest& manifest, const dedup::Fingerprints& table,
                      const dedup::Selection& selection);

// The name of a class. Throws FormatError for an unknown label.
const std::string& class_name(const Manifest& manifest, std::int32_t label);

// The folders of an exported image folder.
struct FolderPlan {
  bool split_folders = false;
  std::vector<std::string> class_folders;  // folder name for each label
};
// Plans the folders of an export. Throws UsageError if a row has more than one label.
FolderPlan plan_folders(const Manifest& manifest, const dedup::Fingerprints& table,
                        const std::vector<std::size_t>& rows);

}  // namespace winnow::pipeline
