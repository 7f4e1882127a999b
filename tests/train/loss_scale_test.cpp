// Loss scaling: how the factor changes, and that it has no effect if nothing overflows or vanishes.
// tests/train/cudnn/loss_scale_test.cpp tests it in f16.

#include "train/step/loss_scale.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/train/sync_batch_norm.h"
#include "train/optim/clip.h"

namespace winnow::train::loss_scale_test {

TEST(LossScale, IsAPowerOfTwoInItsRange) {
  for (const double good :
       {1.0, 2.0, 0.5, 1024.0, kFirstLossScale, kLeastLossScale, kMostLossScale})
    EXPECT_TRUE(is_loss_scale(good)) << good;
  for (const double bad :
       {0.0, -2.0, 3.0, 1000.0, kLeastLossScale / 2, kMostLossScale * 2,
        std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_FALSE(is_loss_scale(bad)) << bad;
  }
}

TEST(LossScale, AdaptsInF16WhereItIsNotFixed) {
  const LossScale none;
  EXPECT_EQ(first_loss_scale(DType::kF32, 0), none);
  EXPECT_EQ(first_loss_scale(DType::kBF16, 0), none);
  EXPECT_EQ(first_loss_scale(DType::kF16, 0), (LossScale{.factor = 65536, .adapts = true}));
  EXPECT_EQ(first_loss_scale(DType::kF16, 8), LossScale{.factor = 8});
}

TEST(LossScale, HalvesDownToTheLeast) {
  LossScale scale{.factor = 4, .adapts = true, .clean_steps = 7};
  ASSERT_TRUE(lower(scale));
  EXPECT_EQ(scale, (LossScale{.factor = 2, .adapts = true}));
  int times = 0;
  while (lower(scale)) ++times;
  EXPECT_EQ(times, 15);
  EXPECT_EQ(scale.factor, kLeastLossScale);
  LossScale fixed{.factor = 4};
  EXPECT_FALSE(lower(fixed));
  EXPECT_EQ(fixed.factor, 4);
}

TEST(LossScale, DoublesAfterTwoThousandStepsUpToTheMost) {
  LossScale scale{.factor = kMostLossScale / 2, .adapts = true};
  for (int i = 0; i < 1999; ++i) count_clean_step(scale);
  EXPECT_EQ(scale.factor, kMostLossScale / 2);
  count_clean_step(scale);
  EXPECT_EQ(scale, (LossScale{.factor = kMostLossScale, .adapts = true}));
  for (int i = 0; i < 2000; ++i) count_clean_step(scale);
  EXPECT_EQ(scale, (LossScale{.factor = kMostLossScale, .adapts = true}));
  LossScale fixed{.factor = 4};
  for (int i = 0; i < 2000; ++i) count_clean_step(fixed);
  EXPECT_EQ(fixed, LossScale{.factor = 4});
}

struct Way {
  const char* net;
  std::vector<int> lanes;
  bool reproducible;
  bool synchronized;
  GradientClip clip{};
};

// A power of two changes no bit of numbers that stay normal: weights, statistics, losses, norms.
TEST(LossScale, ChangesNoBitWhereNothingVanishes) {
  for (const Way& way : {Way{"lenet", {1}, false, false}, Way{"lenet", {2, 1}, false, false},
                         Way{"resnet20", {3}, true, false}, Way{"resnet20", {1, 1, 1}, false, true},
                         Way{"resnet20", {2, 1}, false, false, {.norm = 0.5}}}) {
    const RunPlan plan = cut_into(way.lanes, 4096, way.reproducible, 3);
    const std::int64_t micro_batches = micro_batches_of(plan);
    const Graph graph = way.synchronized
                            ? synchronized_graph(way.net, 6 / micro_batches, micro_batches)
                            : training_graph(way.net, 6 / micro_batches);
    const auto learnt = [&](double factor) {
      Learner learner(graph, make_model(graph, 7), plan, reference, way.clip);
      learner.executor->set_loss_scale({.factor = factor});
      Learnt all = learn(learner, random_batch(graph, 6), 3, 0.1);
      all.losses.push_back(learner.executor->gradient_norm());
      return all;
    };
    const Learnt want = learnt(1);
    for (const double factor : {0x1p16, 0x1p-8}) {
      const Learnt got = learnt(factor);
      EXPECT_EQ(got.losses, want.losses);
      for (std::size_t t = 0; t < want.model.tensors.size(); ++t) {
        EXPECT_EQ(got.model.tensors[t].data, want.model.tensors[t].data)
            << want.model.tensors[t].about.name;
      }
    }
  }
}

}  // namespace winnow::train::loss_scale_test
