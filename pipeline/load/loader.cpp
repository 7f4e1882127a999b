#include "pipeline/load/loader.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "common/checksum.h"
#include "common/error.h"
#include "pipeline/decode/decode.h"
#include "pipeline/load/order.h"
#include "pipeline/load/team.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/settings.h"

namespace winnow::pipeline {
namespace {

constexpr SampleId kNoSample = ~SampleId{0};

std::string shard_of(const Manifest& manifest, SampleId id) {
  const auto shard = std::find_if(
      manifest.shards.begin(), manifest.shards.end(),
      [id](const ShardInfo& info) { return info.first_id <= id && id <= info.last_id; });
  return shard == manifest.shards.end() ? "an unknown shard" : shard->file;
}

[[noreturn]] void throw_unusable(const Cache& cache, SampleId id, const std::string& reason) {
  throw Error("sample " + std::to_string(id) + " in " + shard_of(cache.manifest(), id) + " of " +
              cache.paths().root.string() + " cannot be used: " + reason +
              "; check the cache with winnow verify and make it again with winnow ingest");
}

void check_options(const LoadOptions& options) {
  if (options.threads < 1 || options.batches_ahead < 1) {
    throw UsageError("loading needs at least one thread and one batch ahead, not " +
                     std::to_string(options.threads) + " and " +
                     std::to_string(options.batches_ahead));
  }
  const Geometry& geometry = options.geometry;
  if (geometry.height_px < 1 || geometry.width_px < 1 || geometry.channels < 1) {
    throw UsageError("samples must be at least 1x1 with 1 or 3 channels, not " +
                     std::to_string(geometry.height_px) + "x" + std::to_string(geometry.width_px) +
                     "x" + std::to_string(geometry.channels));
  }
}

// Writes the pixels of one sample and returns its record, whose views live as long as the cache.
RecordView load_sample(const Cache& cache, DecodeSettings settings, const Request& request,
                       const LoadOptions& options, std::span<std::uint8_t> out) {
  const RecordView record = cache.record(request.id, [&](int variants) {
    return variant_at(options.seed, request.epoch, request.id, variants);
  });
  const AugmentKey key{options.seed, request.epoch, request.id};
  if (record.coding == Coding::kRaw) {
    const std::ptrdiff_t row_bytes = std::ptrdiff_t{record.width_px} * record.channels;
    augment({reinterpret_cast<const std::uint8_t*>(record.payload.data()), record.height_px,
             record.width_px, record.channels, row_bytes},
            options.recipe, options.geometry, key, out);
    return record;
  }
  // A larger picture than the record says is not the one that was stored.
  settings.max_pixels =
      static_cast<std::uint64_t>(record.height_px) * static_cast<std::uint64_t>(record.width_px);
  const auto image = decode(record.payload, settings);
  if (!image) throw_unusable(cache, request.id, image.error().detail);
  augment((*image).view(), options.recipe, options.geometry, key, out);
  return record;
}

// The batch of `requests`; nothing when `team` was stopped meanwhile.
std::optional<Batch> prepare(const Cache& cache, const std::vector<Request>& requests,
                             const LoadOptions& options, Team& team) {
  const Geometry& geometry = options.geometry;
  const std::size_t count = requests.size();
  const std::size_t sample_bytes = static_cast<std::size_t>(geometry.height_px) *
                                   static_cast<std::size_t>(geometry.width_px) *
                                   static_cast<std::size_t>(geometry.channels);
  const DecodeSettings settings = decode_settings(cache.manifest());
  Batch batch;
  batch.height_px = geometry.height_px;
  batch.width_px = geometry.width_px;
  batch.channels = geometry.channels;
  batch.pixels.resize(count * sample_bytes);
  batch.ids.resize(count, kNoSample);
  batch.weights.resize(count);
  batch.groups.resize(count);

  std::vector<std::span<const std::int32_t>> labels(count);
  const bool complete = team.run(count, [&](std::size_t i) {
    const Request& request = requests[i];
    if (request.weight == 0) return;
    const RecordView record =
        load_sample(cache, settings, request, options,
                    std::span(batch.pixels).subspan(i * sample_bytes, sample_bytes));
    batch.ids[i] = request.id;
    batch.weights[i] = request.weight;
    batch.groups[i] = record.group.empty() ? 0 : xxh3_64(as_bytes(record.group));
    labels[i] = record.labels;
  });
  if (!complete) return std::nullopt;

  batch.label_offsets.reserve(count + 1);
  batch.label_offsets.push_back(0);
  for (const auto& of_sample : labels) {
    batch.labels.insert(batch.labels.end(), of_sample.begin(), of_sample.end());
    batch.label_offsets.push_back(static_cast<std::uint32_t>(batch.labels.size()));
  }
  return batch;
}

}  // namespace

void check_holds_images(const Cache& cache) {
  if (cache.manifest().store != "none") return;
  throw UsageError(cache.paths().root.string() +
                   ": this cache holds fingerprints only; run ingest without --store none to "
                   "train");
}

SampleSet select_samples(const Cache& cache, Split split, const std::string& selection) {
  check_holds_images(cache);
  const dedup::Fingerprints table = cache.open_fingerprints()({});  // ids and splits
  SampleSet set;
  if (selection.empty()) {
    for (std::size_t row = 0; row < table.size(); ++row) {
      if (table.splits[row] == split) set.ids.push_back(table.ids[row]);
    }
    set.weights.assign(set.ids.size(), 1.0F);
  } else {
    const dedup::Selection chosen = cache.read_selection(selection);
    std::vector<SampleId> stands_for;
    std::size_t row = 0;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      // Both ascend, so one walk finds every chosen id or none.
      while (row < table.size() && table.ids[row] < chosen.ids[i]) ++row;
      if (row == table.size() || table.ids[row] != chosen.ids[i]) {
        throw FormatError("selection '" + selection + "' of " + cache.paths().root.string() +
                          " names sample " + std::to_string(chosen.ids[i]) +
                          ", which the cache does not have; make the selection again");
      }
      if (chosen.split_of(i, table.splits[row]) != split || chosen.weights[i] == 0) continue;
      set.ids.push_back(chosen.ids[i]);
      set.weights.push_back(chosen.weights[i]);
      stands_for.push_back(chosen.kept[i]);
    }
    if (chosen.mode == dedup::SelectionMode::kOnePerGroup) {
      set = take_turns(std::move(set.ids), std::move(set.weights), stands_for);
    }
  }
  if (set.ids.empty()) {
    throw UsageError(cache.paths().root.string() + " has no samples of split " +
                     std::string(split_name(split)) +
                     (selection.empty() ? "" : " left by selection '" + selection + "'") +
                     "; winnow info shows what there is");
  }
  return set;
}

Batch load_batch(const Cache& cache, const std::vector<Request>& requests,
                 const LoadOptions& options) {
  check_options(options);
  Team team(options.threads);
  return prepare(cache, requests, options, team).value();
}

struct Loader::State {
  using Plan = std::function<std::vector<Request>(std::uint64_t)>;

  State(const Cache& from, LoadOptions load_options, Plan batch_plan)
      : cache(from),
        options(std::move(load_options)),
        plan(std::move(batch_plan)),
        team(options.threads) {}

  void run() noexcept {
    try {
      for (std::uint64_t index = 0; wait_for_room(); ++index) {
        const std::vector<Request> requests = plan(index);
        if (requests.empty()) break;
        std::optional<Batch> batch = prepare(cache, requests, options, team);
        if (!batch) break;
        const std::lock_guard lock(mutex);
        ready.push_back(*std::move(batch));
        changed.notify_all();
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    ended = true;
    changed.notify_all();
  }

  // False when the loader is being destroyed.
  bool wait_for_room() {
    std::unique_lock lock(mutex);
    const auto limit = static_cast<std::size_t>(options.batches_ahead);
    changed.wait(lock, [&] { return stopping || ready.size() < limit; });
    return !stopping;
  }

  const Cache& cache;
  const LoadOptions options;
  const Plan plan;
  Team team;

  mutable std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  std::deque<Batch> ready;
  std::exception_ptr failure;
  bool ended = false;
  bool stopping = false;
  std::chrono::steady_clock::duration waited{0};

  std::thread thread;
};

Loader::Loader(const Cache& cache, LoadOptions options,
               std::function<std::vector<Request>(std::uint64_t)> plan) {
  check_options(options);
  state_ = std::make_unique<State>(cache, std::move(options), std::move(plan));
  state_->thread = std::thread([state = state_.get()] { state->run(); });
}

Loader::~Loader() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->changed.notify_all();
  state_->team.stop();
  state_->thread.join();
}

Batch Loader::next() {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  if (state.ready.empty() && !state.ended) {
    const auto before = std::chrono::steady_clock::now();
    state.changed.wait(lock, [&] { return !state.ready.empty() || state.ended; });
    state.waited += std::chrono::steady_clock::now() - before;
  }
  if (state.ready.empty()) {
    if (state.failure) std::rethrow_exception(state.failure);
    return {};
  }
  Batch batch = std::move(state.ready.front());
  state.ready.pop_front();
  state.changed.notify_all();
  return batch;
}

double Loader::waited_seconds() const noexcept {
  const std::lock_guard lock(state_->mutex);
  return std::chrono::duration<double>(state_->waited).count();
}

}  // namespace winnow::pipeline
