#include "pipeline/recall/recall.h"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include "common/error.h"
#include "dedup/decisions/deduplicate.h"
#include "dedup/search/search.h"
#include "pipeline/export/pixels.h"
#include "pipeline/export/sheet.h"
#include "pipeline/parallel/worker_limit.h"
#include "pipeline/recall/edits.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline {
namespace {

// By edit and hash; nullopt if the picture cannot be decoded.
using Distances = std::vector<std::vector<int>>;

std::optional<Distances> distances_of(const Cache& cache, SampleId id,
                                      std::span<const dedup::HashKind> hashes,
                                      const std::vector<Edit>& edits, dedup::HashMemory& memory) {
  const auto image =
      seen_pixels_of(cache.record(id, first_variant), cache.manifest().settings.decode, 1);
  if (!image) return std::nullopt;
  const auto original = dedup::compute_hashes(image->view(), hashes, memory);
  Distances distances;
  for (const Edit& edit : edits) {
    const Image edited = edit.apply(image->view(), id);
    const auto codes = dedup::compute_hashes(edited.view(), hashes, memory);
    std::vector<int>& of_edit = distances.emplace_back();
    for (std::size_t h = 0; h < hashes.size(); ++h) {
      of_edit.push_back(
          dedup::code_distance(original[h].words, codes[h].words, hashes[h].orientations));
    }
  }
  return distances;
}

}  // namespace

double EditRecall::at(int threshold) const {
  const std::uint64_t all = within.back();
  const auto place = std::min(static_cast<std::size_t>(threshold), within.size() - 1);
  return all == 0 ? 0 : static_cast<double>(within[place]) / static_cast<double>(all);
}

std::vector<std::vector<EditRecall>> measure_recall(const Cache& cache,
                                                    std::span<const dedup::HashKind> hashes,
                                                    const RecallOptions& options,
                                                    const ProgressSink& progress) {
  if (cache.manifest().shards.empty()) {
    throw UsageError(
        cache.paths().root.string() +
        " has fingerprints only and no pictures to edit; ingest with --store original or raw");
  }
  std::vector<SampleId> ids;
  {
    const dedup::Fingerprints table = cache.open_fingerprints()({"quality"});
    for (const std::uint32_t row : dedup::matchable_rows(table)) ids.push_back(table.ids[row]);
  }
  const std::vector<std::size_t> places = pick(ids.size(), options.images, options.seed);
  const std::vector<Edit> edits = common_edits();
  std::vector<std::vector<EditRecall>> recalls;
  for (const dedup::HashKind& hash : hashes) {
    std::vector<EditRecall>& of_hash = recalls.emplace_back();
    for (const Edit& edit : edits) {
      of_hash.push_back({std::string(edit.family), edit.name,
                         std::vector<std::uint64_t>(static_cast<std::size_t>(hash.row->bits) + 1)});
    }
  }
  const WorkerLimit limit(options.threads);
  tbb::enumerable_thread_specific<dedup::HashMemory> memories;
  std::mutex mutex;
  Progress state{.done = 0, .total = places.size(), .note = {}};
  tbb::parallel_for(std::size_t{0}, places.size(), [&](std::size_t i) {
    const auto distances = distances_of(cache, ids[places[i]], hashes, edits, memories.local());
    const std::lock_guard lock(mutex);
    ++state.done;
    if (progress) progress(state);
    if (!distances) return;
    for (std::size_t e = 0; e < edits.size(); ++e) {
      for (std::size_t h = 0; h < hashes.size(); ++h) {
        ++recalls[h][e].within[static_cast<std::size_t>((*distances)[e][h])];
      }
    }
  });
  for (std::vector<EditRecall>& of_hash : recalls) {
    for (EditRecall& edit : of_hash) {
      for (std::size_t d = 1; d < edit.within.size(); ++d) edit.within[d] += edit.within[d - 1];
    }
  }
  return recalls;
}

double expected_recall(std::span<const EditRecall> edits, int threshold) {
  double sum = 0;
  double count = 0;
  for (const EditRecall& edit : edits) {
    if (edit.family != "copy") continue;
    sum += edit.at(threshold);
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

}  // namespace winnow::pipeline
