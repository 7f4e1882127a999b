#include "pipeline/load/dataset.h"

#include "common/checksum.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json_text.h"
#include "common/rng.h"
#include "pipeline/decode/shrink.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/memory.h"
#include "pipeline/store/settings.h"

namespace winnow::pipeline {

DatasetInfo describe(const Cache& cache) {
  const Manifest& m = cache.manifest();
  const Size size{m.height_px, m.width_px};  // before a resize
  const VariantSettings variants = variant_settings(m);
  const Size stored = variants.copies > 0
                          ? Size{variants.height_px, variants.width_px}
                          : shrunk(size, resize_settings(m).short_side_px).value_or(size);
  return {.digest = cache.digest(),
          .classes = m.classes,
          .channels = m.channels,
          .height_px = stored.height_px,
          .width_px = stored.width_px,
          .stored_recipe = variants.recipe,
          .mean = m.mean(),
          .deviation = m.deviation(),
          .split_counts = m.split_counts};
}

std::shared_ptr<const Cache> open_cache(const std::filesystem::path& root,
                                        const Placement& placement, int rank) {
  OpenOptions options{.most_mapped = std::uint64_t{4} << 30, .shards_at = placement.shards_at};
  if (!placement.held.empty()) {
    const int node = placement.nodes.at(static_cast<std::size_t>(rank));
    options.held = placement.held.at(static_cast<std::size_t>(node));
  }
  const std::filesystem::path shards =
      placement.shards_at.empty() ? CachePaths{root}.shards() : placement.shards_at;
  std::error_code ignored;
  if (std::filesystem::is_directory(shards, ignored) && storage_at(shards) == Storage::kNetwork) {
    throw UsageError(shards.string() +
                     " is on a network file system, which shards are not mapped from; read them "
                     "from a copy by --memory, or by --memory-dir on a local disk");
  }
  const bool elsewhere = !placement.files_at.empty();
  return std::make_shared<const Cache>(Cache::open(elsewhere ? placement.files_at : root, options));
}

std::string what_became_of(const Cache& cache) {
  const std::filesystem::path manifest = cache.paths().manifest();
  std::error_code error;
  if (!std::filesystem::exists(manifest, error)) return error ? "" : "was removed";
  try {
    return stated_digest(read_text(manifest)) == cache.digest() ? "" : "was replaced by another";
  } catch (const SystemError&) {
    return "";
  }
}

std::string selection_digest(const Cache& cache, const std::string& selection) {
  if (selection.empty()) return "";
  return to_hex(xxh3_128(InputFile(cache.paths().selection(selection))));
}

EvaluationSamples evaluation_samples(const Cache& cache, Split split,
                                     const std::string& selection) {
  check_holds_images(cache);
  const dedup::Fingerprints table = cache.open_fingerprints()({});  // ids and splits
  EvaluationSamples out;
  const auto take = [&](SampleId id) {
    out.all.ids.push_back(id);
    out.all.weights.push_back(1);
  };
  if (selection.empty()) {
    for (std::size_t row = 0; row < table.size(); ++row) {
      if (table.splits[row] == split) take(table.ids[row]);
    }
    return out;
  }
  const dedup::Selection chosen = cache.read_selection(selection);
  // Both ascend. What the cache does not have is of no split.
  const auto for_each_of = [&](Split wanted, const auto& use) {
    std::size_t row = 0;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      while (row < table.size() && table.ids[row] < chosen.ids[i]) ++row;
      if (row == table.size()) return;
      if (table.ids[row] == chosen.ids[i] && chosen.split_of(i, table.splits[row]) == wanted) {
        use(i);
      }
    }
  };
  std::vector<bool> has_training_sample(chosen.size());  // by group; they are numbered from 0
  for_each_of(Split::kTrain, [&](std::size_t i) { has_training_sample[chosen.groups[i]] = true; });
  for_each_of(split, [&](std::size_t i) {
    take(chosen.ids[i]);
    if (has_training_sample[chosen.groups[i]] || chosen.rules[i] == dedup::Rule::kLeak) {
      out.leaked.push_back(chosen.ids[i]);
    }
  });
  return out;
}

HeldOut hold_out(const Cache& cache, const SampleSet& samples, const std::string& selection,
                 double share) {
  // Of each sample, the first of its group, and the one that stands for it.
  std::vector<SampleId> first = samples.ids;
  std::vector<SampleId> stands_for = samples.ids;
  if (!selection.empty()) {
    const dedup::Selection chosen = cache.read_selection(selection);
    std::vector<SampleId> first_of_group;  // groups are numbered by their first sample, ids ascend
    std::size_t next = 0;
    for (std::size_t row = 0; row < chosen.size(); ++row) {
      if (chosen.groups[row] == first_of_group.size()) first_of_group.push_back(chosen.ids[row]);
      if (next == samples.ids.size() || samples.ids[next] != chosen.ids[row]) continue;
      stands_for[next] = chosen.kept[row];
      first[next++] = first_of_group[chosen.groups[row]];
    }
  }
  constexpr std::uint64_t kSeed = 0;
  HeldOut out;
  std::vector<SampleId> of_train;
  for (std::size_t i = 0; i < samples.ids.size(); ++i) {
    const bool held = CounterRng(kSeed, 0, first[i], RandomUse::kHoldout).uniform() < share;
    SampleSet& side = held ? out.held : out.train;
    side.ids.push_back(samples.ids[i]);
    side.weights.push_back(samples.weights[i]);
    if (!held) of_train.push_back(stands_for[i]);
  }
  if (out.held.ids.empty() || out.train.ids.empty()) {
    throw UsageError("a hold-out of " + std::to_string(share) + " of " +
                     std::to_string(samples.ids.size()) +
                     " samples leaves one side empty; choose another share");
  }
  if (!samples.turn_offsets.empty()) {
    out.train = take_turns(std::move(out.train.ids), std::move(out.train.weights), of_train);
  }
  return out;
}

}  // namespace winnow::pipeline
