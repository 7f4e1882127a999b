// Loss scaling in f16: what it prevents, and what an overflow does.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "places.h"
#include "tests/common/temporary_folder.h"
#include "tests/gpu/synthetic.h"
#include "tests/train/cudnn/f16_training.h"
#include "tests/train/sync_batch_norm.h"
#include "train/checkpoint/checkpoint.h"
#include "train/run/train.h"

namespace winnow::train::cudnn::loss_scale_test {

constexpr double kRate = 0.05;

struct Progress {
  std::vector<double> losses{};
  int repeats = 0;
  LossScale scale;  // the final one
  std::vector<std::vector<float>> weights{};
};

// Trains LeNet on one batch whose samples weigh `share` of the whole. As in a batch that is larger
// by that factor, gradients are smaller; the learning rate makes up for it.
Progress train_on_a_share(DType dtype, double share, const LossScale& scale, int steps,
                          bool reproducible = false) {
  const Graph graph = training_graph("lenet", 3);
  Learner learner(graph, in_type(dtype, cut_into({2}, 4096, reproducible)), host_card);
  learner.executor->set_loss_scale(scale);
  pipeline::Batch batch = random_batch(graph, 6);
  Progress progress;
  for (int step = 0; step < steps; ++step) {
    const StepResult result =
        learner.executor->run(batch, weight_of(batch) / share, kRate / share, step, false);
    progress.losses.push_back(result.score.loss / result.score.weight);
    progress.repeats += result.repeats;
  }
  progress.scale = learner.executor->loss_scale();
  progress.weights = weights_of(learner);
  return progress;
}

double farthest(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

TEST(LossScaleInF16, SavesGradientsThatWouldVanish) {
  constexpr int kSteps = 12;
  constexpr double kShare = 0x1p-20;
  const LossScale adapting = first_loss_scale(DType::kF16, 0);
  const Progress f32 = train_on_a_share(DType::kF32, kShare, {}, kSteps);
  const double learnt = f32.losses.front() - f32.losses.back();
  ASSERT_GT(learnt, 0.1);
  const Progress scaled = train_on_a_share(DType::kF16, kShare, adapting, kSteps);
  EXPECT_LE(farthest(scaled.losses, f32.losses), 0.02 * learnt);
  EXPECT_EQ(scaled.repeats, 0);
  EXPECT_EQ(scaled.scale.clean_steps, kSteps);
  const Progress plain = train_on_a_share(DType::kF16, kShare, {}, kSteps);
  EXPECT_GT(farthest(plain.losses, f32.losses), 0.2 * learnt);
}

// No step is lost: the run equals one that begins with a lower factor.
TEST(LossScaleInF16, AnOverflowRepeatsTheStepWithHalfTheFactor) {
  for (const bool reproducible : {false, true}) {
    const LossScale high{.factor = kMostLossScale, .adapts = true};
    const Progress halved = train_on_a_share(DType::kF16, 1, high, 4, reproducible);
    const double lowered = std::log2(high.factor / halved.scale.factor);
    ASSERT_GE(lowered, 2);
    ASSERT_GT(halved.scale.factor, 1);
    EXPECT_GE(halved.repeats, lowered);
    const LossScale low{.factor = halved.scale.factor, .adapts = true};
    const Progress began_lower = train_on_a_share(DType::kF16, 1, low, 4, reproducible);
    EXPECT_EQ(began_lower.scale.factor, low.factor);
    EXPECT_EQ(began_lower.losses, halved.losses);
    EXPECT_EQ(began_lower.weights, halved.weights);
  }
}

// Repeating without end would hang. The factor has a minimum, a fixed factor does not change, and
// no factor helps if the loss is not finite.
TEST(LossScaleInF16, EndsWhereNoFactorHelps) {
  const Graph graph = training_graph("lenet", 3);
  const RunPlan plan = in_type(DType::kF16, cut_into({2}, 4096));
  pipeline::Batch batch = random_batch(graph, 6);
  const auto failure = [&](Learner& learner, double total_weight) {
    const LossScale before = learner.executor->loss_scale();
    const auto weights = weights_of(learner);
    try {
      learner.executor->run(batch, total_weight, kRate, 0, false);
    } catch (const NotFiniteError& error) {
      EXPECT_EQ(learner.executor->loss_scale(), before);
      EXPECT_EQ(weights_of(learner), weights);
      return error.findings();
    }
    ADD_FAILURE() << "it did not fail";
    return NotFiniteFindings{};
  };
  Learner adapting(graph, plan, host_card);
  adapting.executor->set_loss_scale(first_loss_scale(DType::kF16, 0));
  const NotFiniteFindings least = failure(adapting, 1e-30);
  EXPECT_TRUE(least.loss_is_finite);
  EXPECT_EQ(least.tensor, "fc2.weight");
  EXPECT_EQ(least.loss_scale, kLeastLossScale);

  Learner fixed(graph, plan, host_card);
  fixed.executor->set_loss_scale({.factor = kMostLossScale});
  EXPECT_EQ(failure(fixed, weight_of(batch)).loss_scale, kMostLossScale);

  Model broken = make_model(graph, 7);
  broken.find("fc2.bias").data[0] = std::nanf("");
  Learner learner(graph, broken, plan, host_card);
  learner.executor->set_loss_scale(first_loss_scale(DType::kF16, 0));
  EXPECT_THROW(learner.executor->run(batch, weight_of(batch), kRate, 0, false), NotFiniteError);
  EXPECT_EQ(learner.executor->loss_scale().factor, kFirstLossScale) << "no factor was tried";
}

// The next steps depend only on the weights, the scales of the sums and the factor, even if the
// factor is about to double.
TEST(LossScaleInF16, GoesOnToTheBitInTheMidstOfGrowth) {
  for (const bool reproducible : {false, true}) {
    const Graph graph = training_graph("lenet", 3);
    const RunPlan plan = in_type(DType::kF16, cut_into({2}, 4096, reproducible));
    pipeline::Batch batch = random_batch(graph, 6);
    Learner whole(graph, plan, host_card);
    whole.executor->set_loss_scale(
        {.factor = 4096, .adapts = true, .clean_steps = kLossScaleInterval - 3});
    for (int step = 0; step < 2; ++step) whole.step(batch, kRate);
    const LossScale kept = whole.executor->loss_scale();
    EXPECT_EQ(kept.clean_steps, kLossScaleInterval - 1);
    whole.weights->store();
    Learner resumed(graph, whole.model, plan, host_card);
    resumed.executor->restore(whole.executor->state());
    resumed.executor->set_loss_scale(kept);
    for (int step = 0; step < 3; ++step) {
      const StepResult want = whole.step(batch, kRate);
      const StepResult got = resumed.executor->run(batch, weight_of(batch), kRate, 2 + step, false);
      EXPECT_EQ(got.score.loss, want.score.loss);
    }
    EXPECT_EQ(whole.executor->loss_scale(),
              (LossScale{.factor = 8192, .adapts = true, .clean_steps = 2}));
    EXPECT_EQ(resumed.executor->loss_scale(), whole.executor->loss_scale());
    EXPECT_EQ(weights_of(resumed), weights_of(whole));
  }
}

// Batch norms over the whole batch exchange scaled sums in the backward pass.
TEST(LossScaleInF16, GoesThroughBatchNormsThatShareNumbers) {
  constexpr std::int64_t kSamples = 6;
  const auto learnt = [&](const Graph& graph, double factor, DType dtype = DType::kF16) {
    Learner learner(graph, in_type(dtype, cut_into({1}, 4096)), host_card);
    learner.executor->set_loss_scale({.factor = factor, .adapts = true});
    Learnt all = learn(learner, random_batch(graph, kSamples), 2, 0.002);
    all.losses.push_back(learner.executor->loss_scale().factor);
    return all;
  };
  const Graph shared = synchronized_graph("resnet20", kSamples, 1);
  const Learnt halved = learnt(shared, kMostLossScale);
  const double factor = halved.losses.back();
  ASSERT_LT(factor, kMostLossScale);
  const Learnt began_lower = learnt(shared, factor);
  EXPECT_EQ(began_lower.losses, halved.losses);
  EXPECT_EQ(distance(began_lower.model, halved.model), 0);
  // The error against f32 is the same as that of batch norms without an exchange.
  const Graph single = training_graph("resnet20", kSamples);
  const Learnt f32 = learnt(single, 1, DType::kF32);
  const double rounding = distance(learnt(single, factor).model, f32.model);
  EXPECT_GT(rounding, 0);
  EXPECT_LE(distance(halved.model, f32.model), 2 * rounding);
  EXPECT_NEAR(halved.losses[1], f32.losses[1], 5e-3 * f32.losses[1]);
}

// Thirty steps of a plain and a residual net in each type, with the same weights and images.
TEST(LossScaleInF16, LossesAreThoseOfOtherTypes) {
  constexpr std::int64_t kSteps = 30;
  for (const char* net : {"lenet", "resnet20"}) {
    const auto losses_in = [&](DType dtype) {
      const int side = std::string_view(net) == "lenet" ? 16 : 8;
      return gpu::losses(*host_card(),
                         {.net = net,
                          .side = side,
                          .classes = 4,
                          .batch = 8,
                          .micro_batch = 4,
                          .dtype = dtype,
                          .lr = 0.002},
                         kSteps);
    };
    const std::vector<double> f32 = losses_in(DType::kF32);
    const std::vector<double> bf16 = losses_in(DType::kBF16);
    const std::vector<double> f16 = losses_in(DType::kF16);
    const double rounding = farthest(bf16, f32);
    EXPECT_LE(rounding, 0.1) << net;
    EXPECT_GT(rounding, 0) << net;
    EXPECT_GT(farthest(f16, f32), 0) << net;
    EXPECT_LE(farthest(f16, f32), rounding) << net << ": it has three bits more";
  }
}

class RunInF16 : public testing::Test {
 protected:
  TrainOptions options(const std::string& run, std::int64_t steps) const {
    TrainOptions o;
    o.net.name = "lenet";
    o.data.cache = std::filesystem::path(WINNOW_GOLDEN) / "v1" / "raw";
    o.recipe.epochs = 2;
    o.recipe.rate.base = 0.005;  // a rate at which rounding errors do not grow
    o.recipe.options["ema_decay"] = {0.9};
    o.batch = {.batch = 6, .micro_batch = 2};
    o.execution.dtype = DType::kF16;
    o.execution.reproducible = true;
    o.run.evaluation.tta = "mirror";
    o.run.out = folder_ / run;
    o.run.max_steps = steps;
    return o;
  }

  static TrainResult trained(const TrainOptions& o) {
    const auto comm = comm::make_single();
    const auto card = host_card();
    return train(
        o, *comm, {}, [](const std::string&) {}, nullptr, card.get());
  }

  Checkpoint last_checkpoint(const std::string& run) const {
    return load_checkpoint(*newest_checkpoint(folder_ / run / "checkpoints"));
  }

  const TemporaryFolder folder_;
};

// As in `winnow train`: averages, evaluation with several views, and resuming from a checkpoint.
TEST_F(RunInF16, GoesOnToTheBitAndEvaluatesAsInF32) {
  TrainOptions f32 = options("f32", 6);
  f32.execution.dtype = DType::kF32;
  const TrainResult want = trained(f32);
  const TrainResult whole = trained(options("whole", 6));
  EXPECT_NEAR(whole.train_loss, want.train_loss, 2e-3 * want.train_loss);
  EXPECT_NE(whole.train_loss, want.train_loss);
  ASSERT_TRUE(whole.score && want.score);
  EXPECT_NEAR(whole.score->top1, want.score->top1, 0.1);

  trained(options("cut", 2));
  TrainOptions go_on = options("cut", 6);
  go_on.run.resume = true;
  EXPECT_EQ(trained(go_on).train_loss, whole.train_loss);
  const Checkpoint a = last_checkpoint("whole");
  const Checkpoint b = last_checkpoint("cut");
  ASSERT_EQ(a.model.size(), b.model.size());
  for (std::size_t t = 0; t < a.model.size(); ++t) {
    EXPECT_EQ(a.model[t].data, b.model[t].data) << a.model[t].name;
  }
}

}  // namespace winnow::train::cudnn::loss_scale_test
