#include "pipeline/load/exchange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "common/rng.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/parts.h"
#include "tests/mpi/mpi_test.h"
#include "tests/mpi/start.h"
#include "tests/pipeline/test_cache.h"

namespace winnow::pipeline::exchange_test {

using comm::mpi_world;
using test::mixed_samples;
using test::TestCache;

LoadOptions load_options() {
  LoadOptions options;
  options.geometry = {24, 24, 3};
  options.recipe = Recipe::kCifar;
  options.seed = 5;
  options.threads = 2;
  return options;
}

// Every rank is a machine of its own, and gradients are summed while records arrive.
TEST(Exchange, BatchesAreThoseOfTheWholeCacheBesideGradients) {
  comm::Communicator& world = mpi_world();
  const auto ranks = static_cast<std::size_t>(world.size());
  const auto samples = mixed_samples(80);
  const TestCache cache(samples, "original", 7);
  std::vector<int> nodes(ranks);
  std::iota(nodes.begin(), nodes.end(), 0);
  const auto parts = std::make_shared<const Parts>(
      hold_blocks(cache->manifest().shards, world.size(), /*replicas=*/1));
  std::vector<std::vector<std::uint32_t>> held;
  for (int node = 0; node < world.size(); ++node) held.push_back(shards_of(*parts, node));
  constexpr std::uint64_t kBatches = 30;
  const RequestsOf requests_of = [&](int rank, std::uint64_t batch) {
    std::vector<Request> requests;
    if (batch == kBatches) return requests;
    CounterRng rng(3, static_cast<std::uint32_t>(batch), static_cast<std::uint64_t>(rank),
                   RandomUse::kTest);
    for (int i = 0; i < 6; ++i) {
      requests.push_back({samples[rng.below(80)].id, static_cast<std::uint32_t>(batch), 1.0F});
    }
    return requests;
  };
  for (const std::size_t segment : {std::size_t{1}, std::size_t{60'000}, std::size_t{1} << 30}) {
    const auto over = spread(
        *cache, world,
        {.shards_at = {}, .nodes = nodes, .held = held, .parts = parts, .segment_bytes = segment});
    ASSERT_EQ(over == nullptr, ranks == 1);
    Loader loader(*cache, load_options(),
                  make_planner(over, world.rank(), requests_of, load_options().seed));
    std::vector<float> gradients(50'000);
    for (std::uint64_t b = 0; b < kBatches; ++b) {
      std::ranges::fill(gradients, static_cast<float>(world.rank() + 1));
      comm::Pending sum = comm::start(world, gradients, "multicolor", {});
      const Batch batch = loader.next();
      const Batch whole = load_batch(*cache, requests_of(world.rank(), b), load_options());
      EXPECT_TRUE(batch.pixels == whole.pixels);
      EXPECT_EQ(batch.ids, whole.ids);
      EXPECT_EQ(batch.labels, whole.labels);
      EXPECT_EQ(batch.groups, whole.groups);
      sum.wait();
      EXPECT_EQ(gradients.front(), static_cast<float>(ranks * (ranks + 1) / 2));
      EXPECT_EQ(gradients.back(), gradients.front());
    }
    loader.settle();
  }
}

}  // namespace winnow::pipeline::exchange_test
