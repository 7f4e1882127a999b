// Memory estimates of a rank, for a net that does not fit with a lane per core.
#include "train/run/start/memory_needs.h"

#include <gtest/gtest.h>

#include "train/graph/graph.h"
#include "train/nets/nets.h"

namespace winnow::train::memory_needs_test {

constexpr std::size_t kGiga = 1'000'000'000;

// A job of one rank, without the data that its memory does not depend on.
Job job_of(const char* net, int side_px, std::int64_t batch, std::int64_t micro_batch) {
  Job job;
  job.setup = {{.name = net},
               {.batch = micro_batch,
                .channels = 3,
                .height_px = side_px,
                .width_px = side_px,
                .classes = 1000,
                .mean = {0.5F, 0.5F, 0.5F},
                .stddev = {0.25F, 0.25F, 0.25F},
                .loss = {}}};
  job.forward = forward_graph(job.setup);
  job.batches = plan_batches(1'000'000, batch, micro_batch, 1, {0, 1});
  return job;
}

MemoryNeeds needs_of(const Job& job, bool reproducible = false) {
  ExecutionOptions options;
  options.reproducible = reproducible;
  options.lanes.threads = 1;
  const auto backend = make_backend("onednn");
  const JobGraphs graphs = graphs_of(job, make_model(job.forward, 1));
  return memory_needs(options, job, graphs, *backend, true);
}

TEST(MemoryNeeds, OfImposedKernelsHaveTheirScratchMemory) {
  const Job job = job_of("resnet20", 32, 64, 32);
  const auto backend = make_backend("onednn");
  const JobGraphs graphs = graphs_of(job, make_model(job.forward, 1));
  ExecutionOptions options;
  options.lanes.threads = 1;
  const MemoryNeeds own = memory_needs(options, job, graphs, *backend, true);
  // Products of unfolded patches come last.
  for (const auto& [layer, kernels] : backend->candidates_of(graphs.training, {})) {
    if (kernels.back().starts_with("unfold ")) options.lanes.kernels[layer] = kernels.back();
  }
  ASSERT_FALSE(options.lanes.kernels.empty());
  const MemoryNeeds imposed = memory_needs(options, job, graphs, *backend, true);
  EXPECT_GE(imposed.lane.scratch, std::size_t{32} * 32 * 32 * 9 * 16 * sizeof(float));
  EXPECT_GT(imposed.lane.scratch, own.lane.scratch);
  EXPECT_EQ(imposed.evaluation.lane.scratch, own.evaluation.lane.scratch);
}

// 64 lanes of ResNet-50 at 224 x 224 would take some 400 GB.
TEST(MemoryNeeds, ResNet50On64CoresHasAsManyLanesAsFitInto24GB) {
  const Job job = job_of("resnet50", 224, 4096, 64);
  const MemoryNeeds needs = needs_of(job);
  EXPECT_EQ(needs.batch, std::size_t{4096} * 224 * 224 * 3);
  EXPECT_EQ(needs.checkpoint, needs.weights + needs.optimizer);
  const MemoryFit wished{.lanes = 64, .evaluation_lanes = 1, .batches_ahead = 2};
  EXPECT_GT(peak_bytes(needs, wished), 150 * kGiga);
  const MemoryFit fit = fit_memory(needs, 24 * kGiga, wished, 64);
  EXPECT_LT(fit.lanes, 10);
  EXPECT_GE(fit.lanes, 1);
  EXPECT_LE(fit.peak, 24 * kGiga);
  EXPECT_GT(peak_bytes(needs, {.lanes = fit.lanes + 1}), 24 * kGiga);  // one more does not fit
}

TEST(MemoryNeeds, GrowWithTheMicroBatchAndWithWholeNumbers) {
  const MemoryNeeds small = needs_of(job_of("resnet20", 32, 64, 8));
  const MemoryNeeds large = needs_of(job_of("resnet20", 32, 64, 32));
  EXPECT_GT(large.lane.values, 2 * small.lane.values);
  EXPECT_EQ(large.lane.gradients, small.lane.gradients);
  EXPECT_EQ(large.batch, small.batch);
  EXPECT_GT(needs_of(job_of("resnet20", 32, 64, 8), true).lane.gradients,
            small.lane.gradients + small.lane.further);
}

// A rank of a pipeline holds its stage; rank 0 also a copy of all tensors while it saves them.
TEST(MemoryNeeds, OfStagesAddUpToThatOfTheNet) {
  Job job = job_of("resnet20", 32, 64, 8);
  const LocalSetup local{.updates = "greedy", .ends = {"layer2.2.relu2"}, .head = "linear"};
  job.setup.local = local;
  job.forward = with_heads(local, job.forward, job.setup.options);
  const auto backend = make_backend("onednn");
  const JobGraphs whole = graphs_of(job, make_model(job.forward, 1));
  ExecutionOptions options;
  options.lanes.threads = 1;
  const MemoryNeeds all = memory_needs(options, job, whole, *backend, true);
  job.ranks = {{1, 1}};
  const auto needs_at = [&](int rank) {
    return memory_needs(options, job, graphs_at(rank, job, whole), *backend, rank == 0);
  };
  const MemoryNeeds first = needs_at(0);
  const MemoryNeeds second = needs_at(1);
  EXPECT_EQ(first.weights + second.weights, all.weights);
  EXPECT_EQ(first.optimizer + second.optimizer, all.optimizer);
  EXPECT_LT(second.lane.values, all.lane.values);
  EXPECT_EQ(first.checkpoint, all.checkpoint);
  EXPECT_EQ(second.checkpoint, 0U);
  EXPECT_EQ(first.batch, all.batch);
  EXPECT_EQ(second.batch, 0U);
}

TEST(MemoryNeeds, AreOfThisMachine) {
  EXPECT_GT(memory_for_rank(1), memory_for_rank(8));
  EXPECT_GT(memory_for_rank(8), 0U);
  EXPECT_EQ(memory_for_rank(1, 1'000'000), 1'000'000U);
}

}  // namespace winnow::train::memory_needs_test
