#include "pipeline/load/dataset.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/bytes.h"
#include "common/checksum.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json_text.h"
#include "common/rng.h"
#include "pipeline/augment/variants.h"
#include "pipeline/decode/shrink.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/choice.h"
#include "pipeline/store/memory.h"

namespace winnow::pipeline {

DatasetInfo describe(const Cache& cache) {
  const Manifest& m = cache.manifest();
  const Size size{m.images.height_px, m.images.width_px};  // before resizing
  const VariantSettings variants = variant_settings(m.settings.variants);
  const Size stored = variants.copies > 0
                          ? Size{variants.height_px, variants.width_px}
                          : shrunk(size, m.settings.resize.short_side_px).value_or(size);
  return {.digest = cache.digest(),
          .classes = m.classes,
          .channels = m.images.channels,
          .height_px = stored.height_px,
          .width_px = stored.width_px,
          .stored_recipe = variants.recipe,
          .mean = m.images.mean(),
          .deviation = m.images.deviation(),
          .split_counts = m.images.split_counts};
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
                     " is on a network file system, from which shards are not mapped; read them "
                     "from a copy with --memory, or with --memory-dir on a local disk");
  }
  const bool elsewhere = !placement.files_at.empty();
  return std::make_shared<const Cache>(Cache::open(elsewhere ? placement.files_at : root, options));
}

std::string change_since_opened(const Cache& cache) {
  const std::filesystem::path manifest = cache.paths().manifest();
  std::error_code error;
  if (!std::filesystem::exists(manifest, error)) return error ? "" : "was removed";
  try {
    return stated_digest(read_text(manifest)) == cache.digest() ? "" : "was replaced by another";
  } catch (const SystemError&) {
    return "";
  }
}

bool can_name_selection(std::string_view name) noexcept { return is_selection_name(name); }

std::string digest_by_names(const Cache& cache) {
  const Manifest& manifest = cache.manifest();
  std::vector<std::string> classes = manifest.classes;
  std::ranges::sort(classes);
  std::vector<std::int32_t> by_name(classes.size());  // number of each label when sorted by name
  for (std::size_t label = 0; label < classes.size(); ++label) {
    const auto place = std::ranges::lower_bound(classes, manifest.classes[label]);
    by_name[label] = static_cast<std::int32_t>(place - classes.begin());
  }
  dedup::Fingerprints table = cache.open_fingerprints()({"labels", "file_hashes"});
  std::vector<std::int32_t>& labels = table.labels.values;
  for (std::int32_t& label : labels) label = by_name.at(static_cast<std::size_t>(label));
  for (std::size_t row = 0; row < table.labels.size(); ++row) {
    std::sort(labels.begin() + table.labels.offsets[row],
              labels.begin() + table.labels.offsets[row + 1]);
  }
  ByteWriter head;
  const auto put_text = [&](const std::string& text) {
    head.put<std::uint64_t>(text.size());
    head.put_text(text);
  };
  put_text(to_text(manifest.settings));
  for (const std::string& name : classes) put_text(name);
  Xxh3Stream hash;
  hash.update(std::move(head).take());
  hash.update(as_bytes(table.ids));
  hash.update(as_bytes(table.splits));
  hash.update(as_bytes(table.file_hashes));
  hash.update(as_bytes(table.labels.offsets));
  hash.update(as_bytes(table.labels.values));
  return to_hex(hash.digest());
}

std::string selection_digest(const Cache& cache, const std::string& selection,
                             const std::string& made_for) {
  if (selection.empty()) return "";
  check_selection_name(selection);
  const InputFile file(cache.paths().selection(selection));
  if (made_for.empty() || made_for == cache.digest()) return to_hex(xxh3_128(file));
  dedup::Selection taken = dedup::read_selection(file);
  if (taken.cache_digest == cache.digest()) taken.cache_digest = made_for;
  return to_hex(xxh3_128(dedup::serialize(taken)));
}

EvaluationSamples evaluation_samples(const Cache& cache, Split split,
                                     const std::string& selection) {
  check_holds_images(cache);
  const dedup::Fingerprints table = cache.open_fingerprints()({});  // only ids and splits
  std::optional<dedup::Selection> chosen;
  if (!selection.empty()) chosen = cache.read_selection(selection);
  const auto rows_of = [&](Split wanted) {
    return choose(table, wanted, chosen ? &*chosen : nullptr, /*removed_too=*/true).rows;
  };
  std::vector<bool> has_training_sample;  // by group, numbered from 0
  if (chosen) {
    has_training_sample.resize(chosen->size());
    for (const std::size_t row : rows_of(Split::kTrain)) {
      has_training_sample[chosen->components[row]] = true;
    }
  }
  EvaluationSamples out;
  for (const std::size_t row : rows_of(split)) {
    out.all.ids.push_back(table.ids[row]);
    out.all.weights.push_back(1);
    if (chosen && (has_training_sample[chosen->components[row]] ||
                   chosen->rules[row] == dedup::Rule::kLeak)) {
      out.leaked.push_back(table.ids[row]);
    }
  }
  return out;
}

HeldOut hold_out(const Cache& cache, const SampleSet& samples, const std::string& selection,
                 double share) {
  // For each sample, the first of its group, and its representative.
  std::vector<SampleId> first = samples.ids;
  std::vector<SampleId> stands_for = samples.ids;
  if (!selection.empty()) {
    const dedup::Selection chosen = cache.read_selection(selection);
    // Groups are numbered by their first sample, and ids ascend.
    std::vector<SampleId> first_of_group;
    std::size_t next = 0;
    for (std::size_t row = 0; row < chosen.size(); ++row) {
      if (chosen.components[row] == first_of_group.size())
        first_of_group.push_back(chosen.ids[row]);
      if (next == samples.ids.size() || samples.ids[next] != chosen.ids[row]) continue;
      stands_for[next] = chosen.kept[row];
      first[next++] = first_of_group[chosen.components[row]];
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
