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
#include "common/failpoint.h"
#include "common/thread_name.h"
#include "pipeline/decode/decode.h"
#include "pipeline/load/team.h"
#include "pipeline/load/variant_internal.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline {
namespace {

constexpr SampleId kNoSample = ~SampleId{0};

std::string shard_of(const Manifest& manifest, SampleId id) {
  const auto shard = std::find_if(
      manifest.shards.begin(), manifest.shards.end(),
      [id](const ShardInfo& info) { return info.first_id <= id && id <= info.last_id; });
  return shard == manifest.shards.end() ? "an unknown shard" : shard->file;
}

// With its name in the source, if the ledger is readable.
std::string describe(const Cache& cache, SampleId id) {
  const std::string sample = "sample " + std::to_string(id);
  try {
    return sample + ", '" + cache.read_names()(id) + "',";
  } catch (const Error&) {
    return sample;
  }
}

template <class Thrown>
[[noreturn]] void throw_unusable(const Cache& cache, SampleId id, const std::string& reason) {
  throw Thrown(describe(cache, id) + " in " + shard_of(cache.manifest(), id) + " of " +
               cache.paths().root.string() + " cannot be used: " + reason +
               "; check the cache with winnow verify and make it again with winnow ingest");
}

// Wraps `work` so that the error for a damaged record names the sample.
template <class Work>
auto naming(const Cache& cache, const std::vector<Request>& requests, Work work) {
  return [&cache, &requests, work](std::size_t i) {
    try {
      work(i);
    } catch (const FormatError& error) {
      throw_unusable<FormatError>(cache, requests[i].id, error.what());
    }
  };
}

void check_options(const LoadOptions& options) {
  if (options.threads < 1 || options.batches_ahead < 1) {
    throw UsageError("the loader needs at least one thread and one batch ahead, not " +
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

std::size_t sample_bytes(const Geometry& geometry) {
  return static_cast<std::size_t>(geometry.height_px) *
         static_cast<std::size_t>(geometry.width_px) * static_cast<std::size_t>(geometry.channels);
}

RecordView received_record(BytesView pack, SampleId id) {
  const std::string where = "record " + std::to_string(id) + ", received from another rank,";
  const FoundRecord found = find_record(pack, id, where);
  if (!found.found) throw FormatError(where + " is another record; start the job again");
  return found.record;
}

// Returns the record of one sample. Its views live as long as the cache and `pack` (if there is
// one).
RecordView find_sample(const Cache& cache, const Request& request, BytesView pack,
                       std::uint64_t seed) {
  if (failpoint::enabled && fault_before("load.record", std::to_string(request.id))) {
    throw_errno("cannot load sample " + std::to_string(request.id));
  }
  return pack.empty() ? cache.record(request.id, variant_of(request, seed))
                      : received_record(pack, request.id);
}

// Writes the pixels of one sample.
void decode_sample(const Cache& cache, DecodeSettings settings, const Request& request,
                   const RecordView& record, const LoadOptions& options,
                   std::span<std::uint8_t> out) {
  if (failpoint::enabled && fault_before("load.decode", std::to_string(request.id))) {
    throw_errno("cannot decode sample " + std::to_string(request.id));
  }
  const AugmentKey key{options.seed, request.epoch, request.id};
  if (record.coding == Coding::kRaw) {
    const std::ptrdiff_t row_bytes = std::ptrdiff_t{record.width_px} * record.channels;
    return augment({reinterpret_cast<const std::uint8_t*>(record.payload.data()), record.height_px,
                    record.width_px, record.channels, row_bytes},
                   options.recipe, options.geometry, key, out, options.data.levels);
  }
  // A picture larger than recorded is not the one that was stored.
  settings.max_pixels =
      static_cast<std::uint64_t>(record.height_px) * static_cast<std::uint64_t>(record.width_px);
  if (crop_of(options.recipe, record.height_px, record.width_px, key)) {
    const auto crop = decode_crop(record.payload, settings, [&](Size whole) {
      return Crop{*crop_of(options.recipe, whole.height_px, whole.width_px, key)};
    });
    if (!crop) throw_unusable<Error>(cache, request.id, crop.error().detail);
    return augment_crop((*crop).view(), options.recipe, options.geometry, key, out,
                        options.data.levels);
  }
  const auto image = decode(record.payload, settings);
  if (!image) throw_unusable<Error>(cache, request.id, image.error().detail);
  augment((*image).view(), options.recipe, options.geometry, key, out, options.data.levels);
}

// Mixes each sample with the one before it. The pixels of the partner, if any, follow those of the
// batch. False if `team` was stopped meanwhile.
bool mix_samples(Batch& batch, const Mix& how, Team& team) {
  const PixelSpan first{batch.pixels.data(), batch.height_px, batch.width_px, batch.channels};
  const std::size_t bytes = batch.size() * first.size();
  const std::uint8_t* const before =
      bytes < batch.pixels.size() ? batch.pixels.data() + bytes : nullptr;
  // A few pages at a time, because short accesses from picture to picture are slow.
  constexpr std::size_t kRunBytes = 16 << 10;
  const auto rows = std::min(batch.height_px, 1 + static_cast<int>(kRunBytes / first.row_bytes()));
  const int runs = (batch.height_px + rows - 1) / rows;
  return team.run(static_cast<std::size_t>(runs), [&](std::size_t run) {
    const int from = static_cast<int>(run) * rows;
    mix_rows(first, batch.size(), before, from, std::min(batch.height_px, from + rows), how);
  });
}

void check_mixing(const std::vector<Request>& requests) {
  for (const Request& request : requests) {
    if (request.weight == 0)
      throw UsageError("a batch that has padding cannot be mixed by mixup or cutmix");
  }
}

// Resizes the batch to `count` samples, with space for `pixels` bytes of pixels.
void reset(Batch& batch, const Geometry& geometry, std::size_t count, std::size_t pixels) {
  batch.height_px = geometry.height_px;
  batch.width_px = geometry.width_px;
  batch.channels = geometry.channels;
  batch.pixels.resize(pixels);
  batch.ids.assign(count, kNoSample);
  batch.weights.assign(count, 0);
  batch.groups.assign(count, 0);
  batch.label_offsets.clear();
  batch.labels.clear();
  batch.label_weights.clear();
  batch.others.clear();
}

using Labels = std::vector<std::span<const std::int32_t>>;  // by request

// The weight of a mixed sample, and the share of its own labels; the rest belongs to its partner's.
struct MixedWeight {
  float weight;
  double own;
};

MixedWeight mixed_weight(double own, float mine, float others) {
  if (mine == others) return {mine, own};
  const double sum = own * double{mine} + (1 - own) * double{others};
  return {static_cast<float>(sum), own * double{mine} / sum};
}

// Fills in labels with their weights, sample weights, and partners. `label_of` as in LoadOptions.
void put_labels(Batch& batch, const std::vector<Request>& requests, const Labels& labels,
                const std::vector<std::int32_t>& label_of) {
  batch.partners = batch.ids;
  batch.label_offsets.reserve(batch.size() + 1);
  batch.label_offsets.push_back(0);
  const auto add = [&](std::size_t of, double share) {
    batch.labels.insert(batch.labels.end(), labels[of].begin(), labels[of].end());
    batch.label_weights.resize(batch.labels.size(), static_cast<float>(share));
  };
  for (std::size_t i = 0; i < batch.size(); ++i) {
    MixedWeight mixed{batch.weights[i], 1};
    const std::size_t before = i > 0 ? i - 1 : labels.size() - 1;
    if (batch.mix) {
      mixed = mixed_weight(batch.mix->own, requests[i].weight, requests[before].weight);
    }
    batch.weights[i] = mixed.weight;
    add(i, mixed.own);
    batch.others.push_back(static_cast<std::uint32_t>(batch.labels.size()));
    if (batch.mix) {
      batch.partners[i] = requests[before].id;
      add(before, 1 - mixed.own);
    }
    batch.label_offsets.push_back(static_cast<std::uint32_t>(batch.labels.size()));
  }
  if (label_of.empty()) return;
  for (std::int32_t& label : batch.labels) label = label_of.at(static_cast<std::size_t>(label));
}

// Prepares the planned batch; nullopt if `team` was stopped meanwhile.
std::optional<Batch> prepare(const Cache& cache, const Planned& planned, const LoadOptions& options,
                             std::uint64_t number, Team& team, Batch batch = {}) {
  const std::vector<Request>& requests = planned.requests;
  const bool has_partner = !requests.empty() && requests.back().partner;
  const std::size_t count = requests.size() - (has_partner ? 1 : 0);
  batch.mix =
      count > 0 ? mix_of(options.recipe, options.geometry, options.seed, number) : std::nullopt;
  if (batch.mix) check_mixing(requests);
  const std::size_t loaded = batch.mix ? requests.size() : count;
  const bool has_pixels = options.data.pixels;
  const std::size_t bytes = has_pixels ? sample_bytes(options.geometry) : 0;
  reset(batch, options.geometry, count, loaded * bytes);
  const DecodeSettings& settings = cache.manifest().settings.decode;
  Labels labels(loaded);
  const auto load = [&](std::size_t i) {
    const Request& request = requests[i];
    const auto pixels = std::span(batch.pixels).subspan(i * bytes, bytes);
    if (request.weight == 0) {
      std::ranges::fill(pixels, std::uint8_t{0});
      return;
    }
    const BytesView pack = planned.packs.empty() ? BytesView() : planned.packs[i];
    const RecordView record = find_sample(cache, request, pack, options.seed);
    if (has_pixels) decode_sample(cache, settings, request, record, options, pixels);
    labels[i] = record.labels;
    if (i == count) return;  // i == count is the partner
    batch.ids[i] = request.id;
    batch.weights[i] = request.weight;
    batch.groups[i] = record.group.empty() ? 0 : xxh3_64(as_bytes(record.group));
  };
  bool complete = team.run(loaded, naming(cache, requests, load));
  if (complete && has_pixels && batch.mix) complete = mix_samples(batch, *batch.mix, team);
  if (!complete) return std::nullopt;
  batch.pixels.resize(count * bytes);
  put_labels(batch, requests, labels, options.data.label_of);
  return batch;
}

// A planner that calls a function.
class FunctionPlanner final : public Planner {
 public:
  using Plan = std::function<std::vector<Request>(std::uint64_t)>;
  explicit FunctionPlanner(Plan plan) : plan_(std::move(plan)) {}
  Planned plan(std::uint64_t batch) override { return {.requests = plan_(batch)}; }

 private:
  Plan plan_;
};

}  // namespace

Batch load_batch(const Cache& cache, const std::vector<Request>& requests,
                 const LoadOptions& options) {
  check_options(options);
  Team team(options.threads);
  return prepare(cache, {requests}, options, options.first_batch, team).value();
}

struct Loader::State {
  State(const Cache& from, LoadOptions load_options, std::shared_ptr<Planner> batch_planner)
      : cache(from),
        options(std::move(load_options)),
        planner(std::move(batch_planner)),
        team(options.threads) {}

  void run() noexcept {
    name_thread("loader");
    try {
      for (std::uint64_t index = 0; wait_for_room(); ++index) {
        const Planned planned = planner->plan(index);
        if (planned.requests.empty()) break;
        std::optional<Batch> batch =
            prepare(cache, planned, options, options.first_batch + index, team, take_used());
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

  Batch take_used() {
    const std::lock_guard lock(mutex);
    if (used.empty()) return {};
    Batch batch = std::move(used.back());
    used.pop_back();
    return batch;
  }

  // False if the loader is being destroyed.
  bool wait_for_room() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return stopping || !full(); });
    return !stopping;
  }

  bool full() const { return ready.size() >= static_cast<std::size_t>(options.batches_ahead); }

  const Cache& cache;
  const LoadOptions options;
  const std::shared_ptr<Planner> planner;
  Team team;

  mutable std::mutex mutex;  // guards the fields below
  std::condition_variable changed;
  std::deque<Batch> ready;
  std::vector<Batch> used;  // at most as many as batches ahead
  std::exception_ptr failure;
  bool ended = false;
  bool stopping = false;
  std::chrono::steady_clock::duration waited{0};

  std::thread thread;
};

Loader::Loader(const Cache& cache, LoadOptions options,
               std::function<std::vector<Request>(std::uint64_t)> plan)
    : Loader(cache, std::move(options), std::make_shared<FunctionPlanner>(std::move(plan))) {}

Loader::Loader(const Cache& cache, LoadOptions options, std::shared_ptr<Planner> planner) {
  check_options(options);
  state_ = std::make_unique<State>(cache, std::move(options), std::move(planner));
  state_->thread = std::thread([state = state_.get()] { state->run(); });
}

Loader::~Loader() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->changed.notify_all();
  state_->team.stop();  // so that no sample is started after the planner has been stopped
  state_->planner->stop();
  state_->thread.join();
}

Batch Loader::next(Batch used) {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  if (used.pixels.capacity() > 0 &&
      state.used.size() <= static_cast<std::size_t>(state.options.batches_ahead)) {
    state.used.push_back(std::move(used));
  }
  if (state.ready.empty() && !state.ended) {
    const auto before = state.options.clock();
    state.changed.wait(lock, [&] { return !state.ready.empty() || state.ended; });
    state.waited += state.options.clock() - before;
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

void Loader::settle() {
  {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [&] { return state_->ended || state_->full(); });
  }
  state_->planner->settle();
}

double Loader::waited_seconds() const noexcept {
  const std::lock_guard lock(state_->mutex);
  return std::chrono::duration<double>(state_->waited).count();
}

std::uint64_t Loader::received_bytes() const noexcept { return state_->planner->received_bytes(); }
std::uint64_t Loader::sent_bytes() const noexcept { return state_->planner->sent_bytes(); }

}  // namespace winnow::pipeline
