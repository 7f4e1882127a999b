#include "pipeline/ingest/options.h"

#include <algorithm>
#include <array>

#include "common/error.h"
#include "common/thread_plan.h"
#include "dedup/hash/hashes.h"
#include "pipeline/ingest/reader.h"
#include "pipeline/store/settings.h"

namespace winnow::pipeline {
namespace {

constexpr std::array kStores{Store::kOriginal, Store::kRaw, Store::kNone};

void check_variants(const IngestOptions& options) {
  const VariantSettings& v = options.variants;
  if (v == VariantSettings{}) return;
  if (v.copies < 1 || v.height_px < 1 || v.width_px < 1) {
    throw UsageError("--augment needs at least 1 copy of at least 1 x 1 px, not " +
                     std::to_string(v.copies) + " of " + std::to_string(v.width_px) + " x " +
                     std::to_string(v.height_px));
  }
  if (v.recipe == Recipe::kNone && v.copies > 1) {
    throw UsageError("without a recipe all " + std::to_string(v.copies) +
                     " copies would be the same; use --copies 1, or a recipe");
  }
  if (v.recipe != Recipe::kNone && v.copies == 1) {
    throw UsageError(
        "with --copies 1 every epoch would see the same crop; use at least 2, as many as fit on "
        "the disk");
  }
  if (mixes(v.recipe)) {
    throw UsageError(
        "mixup and cutmix mix the samples of a batch, and batches exist only in training; leave "
        "them out here and use them with winnow train --augment");
  }
  if (options.store == Store::kNone) {
    throw UsageError(
        "with --store none no images are stored, so none can be augmented; leave out --store none "
        "or --augment");
  }
  if (options.store != Store::kRaw) {
    throw UsageError(
        "augmented images are stored as pixels, not as original bytes; use --store raw");
  }
  if (options.resize.short_side_px > 0) {
    throw UsageError("augmented images have the size of --image-size; leave out --resize");
  }
  const auto side = [](int px) { return static_cast<std::uint64_t>(px); };
  constexpr std::uint64_t kMostCopies = 65'535;
  if (side(v.copies) > kMostCopies || side(v.height_px) > kMaxInputBytes / 3 / side(v.width_px) ||
      variant_bytes(v) > kMaxInputBytes) {
    throw UsageError(std::to_string(v.copies) + " copies of " + std::to_string(v.width_px) + " x " +
                     std::to_string(v.height_px) + " px do not fit into a record; its limits are " +
                     std::to_string(kMostCopies) + " copies and " + in_mebibytes(kMaxInputBytes) +
                     " in total; use fewer or smaller copies");
  }
}

}  // namespace

std::string_view store_name(Store store) noexcept {
  switch (store) {
    case Store::kOriginal:
      return "original";
    case Store::kRaw:
      return "raw";
    case Store::kNone:
      break;
  }
  return "none";
}

std::vector<std::string> hash_names(const dedup::Fingerprints& columns) {
  std::vector<std::string> names;
  for (const auto& column : columns.codes) {
    names.push_back(column.hash + ":" + std::to_string(column.version));
  }
  return names;
}

CacheSettings settings_of(const IngestOptions& options, const dedup::Fingerprints& columns) {
  CacheSettings settings;
  settings.store = store_name(options.store);
  settings.fingerprints = {.hashes = hash_names(columns), .thumbnails = options.target.thumbnails};
  settings.shard_bytes = options.shard_bytes;
  settings.decode = options.decode;
  settings.resize.short_side_px = options.resize.short_side_px;
  const bool encodes = options.store == Store::kOriginal && options.resize.short_side_px > 0;
  if (encodes) settings.resize.quality = options.resize.quality;
  if (options.variants.copies > 0) settings.variants = stored_variants(options.variants);
  if (options.target.left_out == nullptr) return settings;
  const dedup::Selection& decisions = options.target.left_out->decisions;
  return with_dropped(std::move(settings), decisions.settings,
                      "what selection '" + decisions.name + "' was decided by");
}

IngestOptions options_of(const Manifest& manifest) {
  const CacheSettings& settings = manifest.settings;
  const auto store = std::ranges::find(kStores, settings.store, store_name);
  if (store == kStores.end()) {
    throw FormatError(
        "'settings.store' of the manifest is not a known way to store images; ingest again");
  }
  IngestOptions options;
  options.store = *store;
  options.hashes.clear();
  for (const std::string& hash : settings.fingerprints.hashes) {
    options.hashes.push_back(hash.substr(0, hash.rfind(':')));
  }
  options.target.thumbnails = settings.fingerprints.thumbnails;
  options.shard_bytes = settings.shard_bytes;
  options.decode = settings.decode;
  options.resize = settings.resize;
  options.variants = variant_settings(settings.variants);
  return options;
}

std::uint64_t bytes_in_flight(const IngestWork& work) {
  if (work.memory_bytes > 0) return work.memory_bytes;
  const int threads = work.threads > 0 ? work.threads : plan_threads(detect_threads(1, 1)).cores;
  return (std::uint64_t{1} + static_cast<unsigned>(threads)) << 27;
}

std::string in_mebibytes(std::uint64_t bytes) {
  return std::to_string((bytes + (1u << 20) - 1) >> 20) + " MiB";
}

void check_options(const IngestOptions& options) {
  check_variants(options);
  const bool takes_all_pixels = options.store == Store::kRaw || options.resize.short_side_px > 0;
  if (dedup::common_scale(options.hashes) > 1 && takes_all_pixels) {
    throw UsageError("with the hash " + options.hashes.front() +
                     " pictures are decoded at a smaller scale, but storing pixels needs all of "
                     "them; store the original bytes or nothing, or leave out the scale");
  }
  if (options.shard_bytes == 0) throw UsageError("shards must hold more than 0 bytes");
  if (options.work.memory_bytes > 0 && options.work.memory_bytes < 1u << 20) {
    throw UsageError("an ingest needs at least 1 MiB of memory for bytes in flight");
  }
  if (options.resize.short_side_px < 0) throw UsageError("images cannot be made smaller than 1 px");
  if (options.resize.short_side_px > 0 && options.store == Store::kNone) {
    throw UsageError(
        "with --store none no images are stored, so none can be resized; leave out --store none or "
        "--resize");
  }
  if (options.resize.quality < 1 || options.resize.quality > 100) {
    throw UsageError("the quality of JPEGs is 1 to 100, not " +
                     std::to_string(options.resize.quality));
  }
  if (options.decode.max_scans < 1)
    throw UsageError("JPEGs have at least one scan; use --max-scans 1 or more");
  if (options.work.threads < 0) throw UsageError("the number of threads must not be negative");
  if (options.work.readers < 1) throw UsageError("an ingest needs at least one thread that reads");
  if (options.target.retry && (options.target.into || options.target.left_out != nullptr)) {
    throw UsageError("--retry-failed excludes --into and --drop; run these separately");
  }
  if (options.target.into && options.target.left_out != nullptr) {
    throw UsageError(
        "duplicates can be left out of new caches only; add to this one, then compact it");
  }
}

}  // namespace winnow::pipeline
