#include "pipeline/load/dataset.h"

#include <unordered_map>
#include <unordered_set>

#include "common/checksum.h"
#include "common/file.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline {

DatasetInfo describe(const Cache& cache) {
  const Manifest& m = cache.manifest();
  return {.digest = cache.digest(),
          .classes = m.classes,
          .channels = m.channels,
          .height_px = m.height_px,
          .width_px = m.width_px,
          .mean = m.mean(),
          .deviation = m.deviation(),
          .split_counts = m.split_counts};
}

std::shared_ptr<const Cache> open_cache(const std::filesystem::path& root) {
  return std::make_shared<const Cache>(Cache::open(root));
}

std::string selection_digest(const Cache& cache, const std::string& selection) {
  if (selection.empty()) return "";
  return to_hex(xxh3_128(read_file(cache.paths().selection(selection))));
}

std::vector<SampleId> leaked_samples(const Cache& cache, Split split,
                                     const std::string& selection) {
  if (selection.empty()) return {};
  const dedup::Selection chosen = cache.read_selection(selection);
  const dedup::Fingerprints table = cache.read_fingerprints();
  std::unordered_map<SampleId, Split> split_of;
  for (std::size_t row = 0; row < table.size(); ++row) split_of[table.ids[row]] = table.splits[row];
  std::unordered_set<std::uint32_t> training_groups;
  for (std::size_t row = 0; row < chosen.size(); ++row) {
    if (split_of[chosen.ids[row]] == Split::kTrain) training_groups.insert(chosen.groups[row]);
  }
  std::vector<SampleId> leaked;
  for (std::size_t row = 0; row < chosen.size(); ++row) {
    if (split_of[chosen.ids[row]] == split && training_groups.contains(chosen.groups[row])) {
      leaked.push_back(chosen.ids[row]);
    }
  }
  return leaked;
}

}  // namespace winnow::pipeline
