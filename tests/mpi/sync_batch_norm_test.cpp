// Batch norm over the micro-batches of all ranks: k ranks learn what one rank learns from the whole
// batch.

#include "tests/train/sync_batch_norm.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/mpi/mpi_test.h"

namespace winnow::train::sync_batch_norm_test {

using comm::mpi_world;

constexpr std::size_t kSamples = 12;  // a multiple of 1, 2, 3, 4
constexpr int kSteps = 10;

// A net for grey images of 8 x 8 pixels: as many norms as for larger images, in a quarter of the
// time.
Graph small_graph(std::int64_t micro_batch) {
  NetOptions options = small_images(micro_batch);
  options.height_px = options.width_px = 8;
  return prune(differentiate(fuse(find_net("resnet20").make(options))));
}

// Rows [first, first + count).
pipeline::Batch rows_of(const pipeline::Batch& batch, std::size_t first, std::size_t count) {
  const std::size_t per_sample = batch.pixels.size() / batch.ids.size();
  const auto cut = [&](const auto& from, auto& to, std::size_t each) {
    to.assign(from.begin() + static_cast<std::ptrdiff_t>(first * each),
              from.begin() + static_cast<std::ptrdiff_t>((first + count) * each));
  };
  pipeline::Batch rows;
  rows.channels = batch.channels;
  rows.height_px = batch.height_px;
  rows.width_px = batch.width_px;
  cut(batch.pixels, rows.pixels, per_sample);
  cut(batch.ids, rows.ids, 1);
  cut(batch.weights, rows.weights, 1);
  cut(batch.labels, rows.labels, 1);
  cut(batch.label_weights, rows.label_weights, 1);
  cut(batch.groups, rows.groups, 1);
  for (std::size_t i = 0; i <= count; ++i) {
    rows.label_offsets.push_back(static_cast<std::uint32_t>(i));
  }
  return rows;
}

// Micro-batches [first, last) of `micro_batches` belong to rank `rank`.
struct Share {
  std::size_t first, last;
};
Share share_of(std::size_t micro_batches, int rank, int ranks) {
  const auto edge = [&](int r) {
    return micro_batches * static_cast<std::size_t>(r) / static_cast<std::size_t>(ranks);
  };
  return {edge(rank), edge(rank + 1)};
}

struct Cut {
  std::size_t micro_batches = 1;
  bool synchronized = true;
  bool reproducible = false;
  std::size_t bucket_bytes = 4096;  // many buckets are in flight while norms wait
};

Graph graph_of(const Cut& cut) {
  const Graph graph = small_graph(static_cast<std::int64_t>(kSamples / cut.micro_batches));
  if (!cut.synchronized) return graph;
  return synchronize_batch_norms(graph, static_cast<std::int64_t>(cut.micro_batches));
}

// All ranks of `world` learn together from the same batch in every step. Each lane has one
// micro-batch.
Learnt learn_in_ranks(comm::Communicator& world, const Cut& cut, const MakeBackend& make,
                      double lr) {
  const Graph graph = graph_of(cut);
  RunPlan plan = cut_into({1}, cut.bucket_bytes, cut.reproducible);
  plan.layout.ranks.clear();
  for (int rank = 0; rank < world.size(); ++rank) {
    const Share share = share_of(cut.micro_batches, rank, world.size());
    plan.layout.ranks.push_back({.lanes = std::vector<int>(share.last - share.first, 1)});
  }
  Learner learner(graph, make_model(graph, 7), plan, make, {}, &world);
  const pipeline::Batch batch = random_batch(graph, kSamples);
  const Share mine = share_of(cut.micro_batches, world.rank(), world.size());
  const std::size_t each = kSamples / cut.micro_batches;
  pipeline::Batch part = rows_of(batch, mine.first * each, (mine.last - mine.first) * each);
  Learnt learnt;
  for (int step = 0; step < kSteps; ++step) {
    const Score score = learner.executor->run(part, weight_of(batch), lr, step, false).score;
    learnt.losses.push_back(score.loss / score.weight);
  }
  learner.weights->store();
  learnt.model = learner.model;
  return learnt;
}

// The same by a single rank: the first rank of `world` computes, and all get the result.
Learnt learn_alone(comm::Communicator& world, const Cut& cut, const MakeBackend& make, double lr) {
  Learnt learnt{make_model(graph_of(cut), 7), std::vector<double>(kSteps)};
  if (world.rank() == 0) learnt = learn_in_ranks(*comm::make_single(), cut, make, lr);
  for (Model::Tensor& t : learnt.model.tensors) {
    world.broadcast(std::as_writable_bytes(std::span(t.data)), 0);
  }
  world.broadcast(std::as_writable_bytes(std::span(learnt.losses)), 0);
  return learnt;
}

std::vector<float> numbers_of(const Learnt& learnt) {
  std::vector<float> all;
  for (const Model::Tensor& t : learnt.model.tensors) {
    all.insert(all.end(), t.data.begin(), t.data.end());
  }
  return all;
}

void expect_equal_on_all_ranks(comm::Communicator& world, const Learnt& learnt) {
  const std::vector<float> mine = numbers_of(learnt);
  std::vector<float> of_root = mine;
  world.broadcast(std::as_writable_bytes(std::span(of_root)), 0);
  EXPECT_EQ(mine, of_root);
}

std::unique_ptr<Backend> onednn() { return make_backend("onednn"); }

TEST(SyncBatchNormOverRanks, RanksTogetherLearnWhatOneDoesFromTheWholeBatch) {
  constexpr double kRate = 0.01;
  comm::Communicator& world = mpi_world();
  const Learnt whole = learn_alone(world, {.synchronized = false}, reference, kRate);
  const auto ranks = static_cast<std::size_t>(world.size());
  const Learnt parts = learn_in_ranks(world, {.micro_batches = ranks}, reference, kRate);
  EXPECT_LE(distance(parts.model, whole.model), 1e-4);
  for (std::size_t s = 0; s < whole.losses.size(); ++s) {
    EXPECT_NEAR(parts.losses[s], whole.losses[s], 1e-5 * whole.losses[s]) << s;
  }
  expect_equal_on_all_ranks(world, parts);
  const Learnt apart =
      learn_in_ranks(world, {.micro_batches = ranks, .synchronized = false}, reference, kRate);
  EXPECT_EQ(distance(apart.model, whole.model) > 1e-2, ranks > 1);
}

TEST(SyncBatchNormOverRanks, RepeatsToTheBit) {
  comm::Communicator& world = mpi_world();
  const auto ranks = static_cast<std::size_t>(world.size());
  for (const std::size_t bucket_bytes : {std::size_t{1}, std::size_t{1} << 20}) {
    const Cut cut{.micro_batches = ranks, .bucket_bytes = bucket_bytes};
    const Learnt first = learn_in_ranks(world, cut, onednn, 0.1);
    expect_equal_on_all_ranks(world, first);
    EXPECT_EQ(numbers_of(learn_in_ranks(world, cut, onednn, 0.1)), numbers_of(first));
  }
}

TEST(SyncBatchNormOverRanks, ReproducibleSumsHaveTheSameBitsOnAnyRanks) {
  for (const std::size_t micro_batches : {std::size_t{4}, std::size_t{6}}) {
    const Cut cut{.micro_batches = micro_batches, .reproducible = true};
    EXPECT_EQ(numbers_of(learn_in_ranks(mpi_world(), cut, onednn, 0.1)),
              numbers_of(learn_alone(mpi_world(), cut, onednn, 0.1)));
  }
}

}  // namespace winnow::train::sync_batch_norm_test
