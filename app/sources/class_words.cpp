#include "app/sources/class_words.h"

#include "common/class_remarks.h"
#include "pipeline/export/choice.h"
#include "pipeline/store/choice.h"

namespace winnow::app {

std::vector<std::string> remarks_on_classes(const pipeline::Manifest& manifest) {
  if (!manifest.images.statistics) return {};
  ClassCounts counts;
  for (std::size_t split = 0; split < counts.size(); ++split) {
    counts[split] = manifest.images.statistics->splits[split].classes;
  }
  return class_remarks(manifest.classes, counts);
}

std::vector<std::string> remarks_on_classes(const pipeline::Cache& cache,
                                            const dedup::Selection& selection) {
  dedup::Fingerprints table = cache.open_fingerprints()({"labels"});
  pipeline::apply_splits(selection, table);
  const auto labels = pipeline::count(cache.manifest(), table, selection).labels;
  ClassCounts counts;
  for (std::size_t split = 0; split < counts.size(); ++split) {
    for (const auto& of_label : labels) counts[split].push_back(of_label.kept[split]);
  }
  return class_remarks(cache.manifest().classes, counts);
}

}  // namespace winnow::app
