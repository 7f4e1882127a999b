#include "pipeline/ingest/estimate.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "common/comm/communicator.h"
#include "common/error.h"
#include "pipeline/ingest/plan.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;
namespace {

constexpr double kSampleSeconds = 6;  // target time of the larger run
constexpr std::size_t kFewestChunks = 8;
// Weights for scaling the sample to the whole, if their inputs differ in size; roughly core
// seconds.
constexpr double kWorkOfInput = 2e-5;
constexpr double kWorkOfByte = 6e-9;

struct Amount {
  std::uint64_t inputs = 0;
  std::uint64_t bytes = 0;

  double work() const noexcept {
    return kWorkOfInput * static_cast<double>(inputs) + kWorkOfByte * static_cast<double>(bytes);
  }
};

Amount amount_of(std::span<const ChunkPlan> chunks) {
  Amount sum;
  for (const ChunkPlan& chunk : chunks) {
    sum.inputs += chunk.end - chunk.begin;
    sum.bytes += chunk.input_bytes;
  }
  return sum;
}

// A cache that is removed with this object.
class Temporary {
 public:
  explicit Temporary(fs::path root) : root_(std::move(root)) { remove(); }
  ~Temporary() { remove(); }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

 private:
  void remove() noexcept {
    std::error_code ignored;
    if (!fs::exists(root_, ignored)) return;
    try {
      remove_cache(root_);
    } catch (const std::exception&) {  // not ours: ingest() reports it
      return;
    }
  }

  fs::path root_;
};

struct Sample {
  Amount amount;
  double seconds = 0;
  std::uint64_t shard_bytes = 0;  // size of finished shards
  std::uint64_t row_bytes = 0;    // size of fingerprints and ledger
  StageTimes times;
};

// The planned work, and where its samples are made.
struct Plan {
  std::span<const IngestSource> sources;
  IngestOptions options;
  fs::path folder;
  std::vector<ChunkPlan> chunks;
  std::size_t shards = 0;
};

// Beside `out`, or in its nearest existing parent folder. The name is reserved: remains of an
// earlier estimate are removed.
fs::path sample_folder(const fs::path& out) {
  fs::path path = fs::absolute(out).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  const std::string name = "." + path.filename().string() + ".winnow-estimate";
  std::error_code ignored;
  do {
    path = path.parent_path();
  } while (!fs::is_directory(path, ignored) && path.has_relative_path());
  return path / name;
}

Plan plan_of(std::span<const IngestSource> sources, const fs::path& out,
             const IngestOptions& options) {
  Plan plan{.sources = sources,
            .options = options,
            .folder = sample_folder(out),
            .chunks = {},
            .shards = 0};
  plan.options.target.into = false;
  std::vector<PlacedSource> placed(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) placed[i].source = sources[i].source;
  const std::vector<ShardPlan> shards = plan_shards(placed, options.shard_bytes);
  plan.chunks = plan_chunks(placed, shards, options.store, options.variants);
  plan.shards = shards.size();
  return plan;
}

// A shard size such that the last shard, whose sealing overlaps with nothing, has the same share as
// in the whole.
std::uint64_t shard_bytes_of(const Plan& plan, std::size_t chunks, std::uint64_t bytes) {
  constexpr std::size_t kMostShards = 8;
  constexpr std::size_t kChunksOfShard = 4;
  const std::size_t shards =
      std::clamp<std::size_t>(chunks / kChunksOfShard, 1, std::min(kMostShards, plan.shards));
  return std::min(plan.options.shard_bytes, std::max<std::uint64_t>(1, bytes / shards + 1));
}

Sample run(const Plan& plan, std::vector<ChunkPlan> chunks) {
  std::ranges::sort(chunks, {}, [](const ChunkPlan& c) { return std::pair(c.source, c.begin); });
  std::vector<std::vector<std::uint64_t>> positions(plan.sources.size());
  for (const ChunkPlan& chunk : chunks) {
    for (std::uint64_t i = chunk.begin; i < chunk.end; ++i) positions[chunk.source].push_back(i);
  }
  std::vector<std::unique_ptr<SampleSource>> sources;
  std::vector<IngestSource> open;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (positions[i].empty()) continue;
    sources.push_back(
        std::make_unique<SampleSource>(*plan.sources[i].source, std::move(positions[i])));
    open.push_back({.source = sources.back().get(), .path = plan.sources[i].path});
  }
  Sample sample;
  sample.amount = amount_of(chunks);
  IngestOptions options = plan.options;
  options.shard_bytes = shard_bytes_of(plan, chunks.size(), sample.amount.bytes);
  const Temporary cleared(plan.folder);
  const auto alone = comm::make_single();
  const IngestResult result = ingest(open, plan.folder, options, {}, *alone);
  sample.seconds = result.seconds;
  sample.times = result.times;
  for (const ShardInfo& shard : result.manifest.shards) sample.shard_bytes += shard.bytes;
  const CachePaths paths{plan.folder};
  sample.row_bytes = fs::file_size(paths.fingerprints()) + fs::file_size(paths.ledger());
  return sample;
}

Estimate scaled(const Plan& plan, const Sample& sample, double seconds) {
  const Amount whole = amount_of(plan.chunks);
  const auto ratio = [](std::uint64_t all, std::uint64_t part) {
    return part == 0 ? 0.0 : static_cast<double>(all) / static_cast<double>(part);
  };
  Estimate out;
  out.inputs = whole.inputs;
  out.input_bytes = whole.bytes;
  out.seconds = seconds;
  const double of_shards = plan.options.variants.copies > 0  // all have one size
                               ? ratio(whole.inputs, sample.amount.inputs)
                               : ratio(whole.bytes, sample.amount.bytes);
  out.cache_bytes = static_cast<std::uint64_t>(static_cast<double>(sample.shard_bytes) * of_shards +
                                               static_cast<double>(sample.row_bytes) *
                                                   ratio(whole.inputs, sample.amount.inputs));
  out.times = sample.times;
  return out;
}

}  // namespace

SampleSource::SampleSource(const datasets::Source& whole, std::vector<std::uint64_t> positions)
    : whole_(whole), positions_(std::move(positions)) {
  entries_.reserve(positions_.size());
  for (const std::uint64_t position : positions_) entries_.push_back(whole_.entries()[position]);
}

std::vector<std::size_t> spread_order(std::size_t count) {
  // Bit-reversed numbers: each one falls into the widest gap.
  std::vector<std::size_t> order;
  order.reserve(count);
  int digits = 0;
  while ((std::size_t{1} << digits) < count) ++digits;
  for (std::size_t i = 0; i < std::size_t{1} << digits; ++i) {
    std::size_t turned = 0;
    for (int digit = 0; digit < digits; ++digit) turned |= (i >> digit & 1) << (digits - 1 - digit);
    if (turned < count) order.push_back(turned);
  }
  return order;
}

double extrapolate(const TimedWork& small, const TimedWork& large, double work) {
  const double in_proportion = large.work > 0 ? large.seconds * work / large.work : large.seconds;
  if (large.work <= small.work) return in_proportion;
  const double slope = (large.seconds - small.seconds) / (large.work - small.work);
  const double fixed = small.seconds - slope * small.work;
  // Otherwise the measurement is too noisy: the fixed cost cannot be negative.
  return slope > 0 && fixed > 0 ? fixed + slope * work : in_proportion;
}

Estimate estimate_ingest(std::span<const IngestSource> sources, const fs::path& out,
                         const IngestOptions& options) {
  const Plan plan = plan_of(sources, out, options);
  const std::vector<std::size_t> order = spread_order(plan.chunks.size());
  const auto some = [&](std::size_t begin, std::size_t count) {
    std::vector<ChunkPlan> chunks;
    for (std::size_t i = begin; i < begin + count; ++i) chunks.push_back(plan.chunks[order[i]]);
    return chunks;
  };
  const auto as_whole = [&](const Sample& sample, double took) {
    Estimate estimate = scaled(plan, sample, sample.seconds);
    estimate.sampled_inputs = sample.amount.inputs;
    estimate.sampled_seconds = took;
    return estimate;
  };
  std::size_t few = std::min(plan.chunks.size(), kFewestChunks);
  std::optional<Sample> small;
  while (!small) {
    try {
      small = run(plan, some(0, few));
    } catch (const RefusedError&) {  // none of these was readable; others may be
      if (few == plan.chunks.size()) throw;
      few = std::min(plan.chunks.size(), 4 * few);
    }
  }
  if (few == plan.chunks.size()) return as_whole(*small, small->seconds);
  // The larger run uses inputs that are not in the page cache yet. A small run may be dominated by
  // its fixed cost; then a larger one follows.
  double took = small->seconds;
  std::size_t used = few;
  std::size_t count = few;
  Sample large = *small;
  while (large.seconds < kSampleSeconds / 2) {
    const std::size_t rest = plan.chunks.size() - used;
    const double wanted =
        kSampleSeconds / std::max(large.seconds, 1e-3) * static_cast<double>(count);
    if (wanted >= static_cast<double>(rest)) {
      const Sample all = run(plan, plan.chunks);
      return as_whole(all, took + all.seconds);
    }
    count = std::clamp<std::size_t>(static_cast<std::size_t>(wanted), 1, rest);
    large = run(plan, some(used, count));
    used += count;
    took += large.seconds;
  }
  Estimate estimate =
      scaled(plan, large,
             extrapolate({small->amount.work(), small->seconds},
                         {large.amount.work(), large.seconds}, amount_of(plan.chunks).work()));
  estimate.sampled_inputs = amount_of(some(0, used)).inputs;
  estimate.sampled_seconds = took;
  return estimate;
}

}  // namespace winnow::pipeline
