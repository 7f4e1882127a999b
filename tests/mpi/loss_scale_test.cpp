// An overflow on one of several ranks: all ranks halve the factor and repeat the step. The result
// is as if they had begun with the lower factor.

#include <gtest/gtest.h>

#include "tests/mpi/mpi_test.h"
#include "tests/train/cudnn/f16_training.h"

namespace winnow::train::loss_scale_test {

using comm::mpi_world;

constexpr double kRate = 0.05;

struct Outcome {
  int repeats = 0;
  LossScale scale;
  std::vector<std::vector<float>> weights{};
};

// Each rank has two micro-batches of three samples. The samples of the last rank weigh so much that
// its gradients overflow first.
Outcome learn_in_f16(comm::Communicator& world, const LossScale& scale, Sums sums) {
  const Graph graph = training_graph("lenet", 3);
  RunPlan plan = in_type(DType::kF16, cut_into({2}, 4096));
  plan.numerics.sums = sums;
  plan.layout.ranks.assign(static_cast<std::size_t>(world.size()), plan.layout.ranks.front());
  Learner learner(graph, make_model(graph, 7), plan, host_card, {}, &world);
  learner.executor->set_loss_scale(scale);
  pipeline::Batch batch = random_batch(graph, 6);
  const bool is_last = world.rank() + 1 == world.size();
  for (float& weight : batch.weights) weight *= is_last ? 1.0F : 0x1p-6F;
  const double total = 4.0 + (world.size() - 1) / 16.0;  // approximately the sum of the weights
  Outcome outcome;
  for (int step = 0; step < 4; ++step) {
    outcome.repeats += learner.executor->run(batch, total, kRate, step, false).repeats;
  }
  outcome.scale = learner.executor->loss_scale();
  outcome.weights = weights_of(learner);
  return outcome;
}

TEST(LossScaleOverRanks, AllHalveItTogetherAndLoseNoStep) {
  comm::Communicator& world = mpi_world();
  for (const Sums sums : {Sums::kFloats, Sums::kBF16Messages, Sums::kWholeNumbers}) {
    const LossScale high{.factor = kMostLossScale, .adapts = true};
    const Outcome halved = learn_in_f16(world, high, sums);
    ASSERT_LT(halved.scale.factor, high.factor / 2);
    const LossScale low{.factor = halved.scale.factor, .adapts = true};
    const Outcome began_lower = learn_in_f16(world, low, sums);
    EXPECT_EQ(began_lower.scale, halved.scale);
    EXPECT_EQ(began_lower.weights, halved.weights);
    std::vector<float> all;
    for (const auto& tensor : halved.weights) all.insert(all.end(), tensor.begin(), tensor.end());
    std::vector<float> of_root = all;
    world.broadcast(std::as_writable_bytes(std::span(of_root)), 0);
    EXPECT_EQ(all, of_root);
    double factor = halved.scale.factor;
    world.broadcast(std::as_writable_bytes(std::span(&factor, 1)), 0);
    EXPECT_EQ(factor, halved.scale.factor);
  }
}

}  // namespace winnow::train::loss_scale_test
