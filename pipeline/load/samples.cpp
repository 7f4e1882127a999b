#include "pipeline/load/samples.h"

#include <optional>
#include <unordered_map>
#include <utility>

#include "common/error.h"
#include "pipeline/load/order.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/choice.h"

namespace winnow::pipeline {

void check_holds_images(const Cache& cache) {
  if (cache.manifest().store != "none") return;
  throw UsageError(cache.paths().root.string() +
                   ": this cache holds fingerprints only; run ingest without --store none to "
                   "train");
}

SampleSet select_samples(const Cache& cache, Split split, const std::string& selection) {
  check_holds_images(cache);
  const dedup::Fingerprints table = cache.open_fingerprints()({});  // only ids and splits
  std::optional<dedup::Selection> chosen;
  if (!selection.empty()) chosen = cache.read_selection(selection);
  SampleSet set;
  std::vector<SampleId> stands_for;
  for (const std::size_t row : choose(table, split, chosen ? &*chosen : nullptr, false).rows) {
    set.ids.push_back(table.ids[row]);
    set.weights.push_back(chosen ? chosen->weights[row] : 1.0F);
    stands_for.push_back(chosen ? chosen->kept[row] : table.ids[row]);
  }
  if (set.ids.empty()) {
    throw UsageError(cache.paths().root.string() + " has no samples of split " +
                     std::string(split_name(split)) +
                     (selection.empty() ? "" : " left by selection '" + selection + "'") +
                     "; winnow info shows what there is");
  }
  if (chosen && chosen->mode == dedup::SelectionMode::kOnePerGroup) {
    set = take_turns(std::move(set.ids), std::move(set.weights), stands_for);
  }
  return set;
}

SampleSet take_turns(std::vector<SampleId> ids, std::vector<float> weights,
                     std::span<const SampleId> stands_for) {
  SampleSet set{.ids = std::move(ids), .weights = std::move(weights)};
  std::unordered_map<SampleId, std::uint32_t> place_of;
  std::vector<std::uint32_t> places(set.ids.size());
  for (std::size_t row = 0; row < places.size(); ++row) {
    const auto next = static_cast<std::uint32_t>(place_of.size());
    places[row] = place_of.try_emplace(stands_for[row], next).first->second;
  }
  set.turn_offsets.assign(place_of.size() + 1, 0);
  for (const std::uint32_t place : places) ++set.turn_offsets[place + 1];
  for (std::size_t p = 1; p < set.turn_offsets.size(); ++p) {
    set.turn_offsets[p] += set.turn_offsets[p - 1];
  }
  set.turn_rows.resize(places.size());
  std::vector<std::uint32_t> next(set.turn_offsets.begin(), set.turn_offsets.end() - 1);
  for (std::size_t row = 0; row < places.size(); ++row) {
    set.turn_rows[next[places[row]]++] = static_cast<std::uint32_t>(row);
  }
  return set;
}

std::size_t first_row(const SampleSet& samples, std::size_t place) noexcept {
  return samples.turn_offsets.empty() ? place : samples.turn_rows[samples.turn_offsets[place]];
}

std::size_t row_at(const SampleSet& samples, std::size_t place, std::uint64_t seed,
                   std::uint64_t turn) {
  if (samples.turn_offsets.empty()) return place;
  const std::uint32_t first = samples.turn_offsets[place];
  const auto count = static_cast<int>(samples.turn_offsets[place + 1] - first);
  const SampleId id = samples.ids[samples.turn_rows[first]];
  const int taken = turn_at(seed, turn, id, count, RandomUse::kTurn);
  return samples.turn_rows[first + static_cast<std::uint32_t>(taken)];
}

}  // namespace winnow::pipeline
