#include "app/bench/loader.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "app/bench/rows.h"
#include "app/words.h"
#include "common/error.h"
#include "common/statistics.h"
#include "pipeline/load/dataset.h"
#include "pipeline/load/sampler.h"

namespace winnow::app {
namespace {

// A number of batches of one size, or as many as arrive within some seconds.
struct Portion {
  std::uint64_t batch;
  std::uint64_t batches = ~0ULL;
  double seconds = 0;  // 0: no limit
};

// Loads a portion. Returns the number of images.
std::uint64_t take_batches(const pipeline::Cache& cache, const pipeline::Sampler& sampler,
                           const pipeline::LoadOptions& options, const Portion& portion,
                           const StopRequested& stop) {
  const auto begin = std::chrono::steady_clock::now();
  pipeline::Loader loader(cache, options, [&](std::uint64_t i) {
    return i < portion.batches ? sampler.requests(i * portion.batch, portion.batch)
                               : std::vector<pipeline::Request>{};
  });
  std::uint64_t taken = 0;
  pipeline::Batch got = loader.next();
  for (; got.size() > 0; got = loader.next(std::move(got))) {
    end_if_stopped(stop);
    taken += got.size();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    if (portion.seconds > 0 && passed.count() > portion.seconds) break;
  }
  return taken;
}

}  // namespace

void bench_loader(const LoaderBenchRequest& o, Session& session) {
  MemoryOptions whole = o.load.memory;  // one machine is measured
  whole.replicas = session.comm.size();
  const pipeline::PlacedShards placed = place_shards(o.load.cache, whole, session);
  const auto cache = pipeline::open_cache(o.load.cache, placed.placement, session.comm.rank());
  const pipeline::DatasetInfo info = pipeline::describe(*cache);
  const int side = o.load.image_side_px;
  if (side == 0 && (info.height_px == 0 || info.width_px == 0)) {
    throw UsageError("the images of " + o.load.cache.string() +
                     " differ in size; give the size of the batches with --image-size");
  }
  constexpr std::uint64_t kSeed = 1;
  const pipeline::LoadOptions options{.geometry = {side > 0 ? side : info.height_px,
                                                   side > 0 ? side : info.width_px, info.channels},
                                      .recipe = pipeline::parse_recipe(o.load.augment),
                                      .seed = kSeed,
                                      .threads = thread_plan(session, o.load.threads).decode};
  pipeline::SamplingOptions sampling{.shuffle = o.load.shuffle};
  sampling.shuffle.batch = o.load.batch;
  const pipeline::Sampler sampler(pipeline::select_samples(*cache, Split::kTrain, ""), kSeed,
                                  sampling);
  // A loader first runs for that time. Every part is then measured on as many batches.
  const std::uint64_t batches = std::max<std::uint64_t>(
      1, take_batches(*cache, sampler, options, {.batch = o.load.batch, .seconds = o.seconds},
                      session.stop) /
             o.load.batch);
  const auto count = static_cast<double>(batches * o.load.batch);
  pipeline::LoadStages stages(*cache, sampler.requests(0, batches * o.load.batch), options,
                              static_cast<std::size_t>(o.load.batch));
  const auto rate_of = [&](const auto& work) {
    end_if_stopped(session.stop);
    return count / seconds_of(work);
  };
  std::vector<double> loaded, read, decoded, augmented, copied;
  for (int round = 0; round < o.rounds; ++round) {
    loaded.push_back(rate_of([&] {
      take_batches(*cache, sampler, options, {.batch = o.load.batch, .batches = batches},
                   session.stop);
    }));
    read.push_back(rate_of([&] { stages.read(); }));
    if (stages.encoded()) decoded.push_back(rate_of([&] { stages.decode(); }));
    augmented.push_back(rate_of([&] { stages.augment(); }));
    if (!stages.encoded()) copied.push_back(rate_of([&] { stages.copy(); }));
    say(session, fmt::format("round {}: {} images on {} threads, {:.0f} a second", round + 1,
                             grouped(batches * o.load.batch), options.threads, loaded.back()));
  }
  const auto rate = [](const std::vector<double>& rates) {
    return rates.empty() ? 0 : median(rates);
  };
  const double achieved = median(loaded);
  std::vector<BenchRow> rows{{"loader, of reading", achieved, rate(read), "images/s"}};
  if (!decoded.empty())
    rows.push_back({"loader, of decoding", achieved, rate(decoded), "images/s"});
  rows.push_back({"loader, of augmenting", achieved, rate(augmented), "images/s"});
  if (!copied.empty()) rows.push_back({"loader, of copying", achieved, rate(copied), "images/s"});
  tell_rows(o.json, session, rows);
  say(session, pipeline::bottleneck(achieved, {rate(read), rate(decoded), rate(augmented)}));
}

}  // namespace winnow::app
