// With every optimiser, a run resumed from its checkpoint ends with the same bits as an
// uninterrupted one.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "common/comm/communicator.h"
#include "places.h"
#include "tests/common/temporary_folder.h"
#include "train/backend/reference/reference.h"
#include "train/checkpoint/checkpoint.h"
#include "train/optim/optimizer.h"
#include "train/run/train.h"

namespace winnow::train::optimizer_resume_test {

namespace fs = std::filesystem;

// 22 grey training images of 16 x 16.
const fs::path kCache = fs::path(WINNOW_GOLDEN) / "v1" / "raw";

class OptimizerResume : public testing::TestWithParam<std::string> {
 protected:
  Checkpoint trained(const std::string& run, std::int64_t steps,
                     const OptionValues& options = {}) const {
    TrainOptions o;
    o.recipe.options = options;
    o.run.checkpoints = {.interval = 1, .kept = 9};
    o.net.name = "lenet";
    o.data.cache = kCache;
    o.recipe.optimizer = GetParam();
    o.recipe.rate.base = 0.01;
    o.recipe.epochs = 2;
    o.batch = {.batch = 6, .micro_batch = 2};
    o.execution.backend = "reference";
    o.run.out = folder_ / run;
    o.run.max_steps = steps;
    o.run.resume = true;
    const auto comm = comm::make_single();
    train(o, *comm, {}, [](const std::string&) {});
    return load_checkpoint(*newest_checkpoint(o.run.out / "checkpoints"));
  }

  const TemporaryFolder folder_;
};

void expect_equal(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t t = 0; t < a.size(); ++t) {
    EXPECT_EQ(a[t].name, b[t].name);
    EXPECT_EQ(a[t].data, b[t].data) << a[t].name;
  }
}

TEST_P(OptimizerResume, TwoAndTwoStepsAreFour) {
  const Checkpoint two = trained("cut", 2);
  const Checkpoint cut = trained("cut", 4);
  const Checkpoint whole = trained("whole", 4);
  EXPECT_EQ(cut.step, 4);
  expect_equal(cut.model, whole.model);
  expect_equal(cut.optimizer, whole.optimizer);
  EXPECT_NE(two.optimizer.front().data, whole.optimizer.front().data);
}

TEST_P(OptimizerResume, CheckpointsHaveEverySlotOfEveryParameter) {
  const Checkpoint checkpoint = trained("run", 2);
  const auto slots = find_optimizer(GetParam()).slots;
  EXPECT_EQ(checkpoint.optimizer.size(), slots.size() * checkpoint.model.size());  // no batch norm
  for (const NamedTensor& parameter : checkpoint.model) {
    for (const std::string_view slot : slots) {
      const auto found = std::ranges::find(
          checkpoint.optimizer, std::string(slot) + "." + parameter.name, &NamedTensor::name);
      ASSERT_NE(found, checkpoint.optimizer.end()) << slot << " of " << parameter.name;
      EXPECT_EQ(found->shape, parameter.shape);
      EXPECT_FALSE(std::ranges::all_of(found->data, [](auto b) { return b == decltype(b){}; }))
          << found->name;
    }
  }
}

// Every option that works with any optimiser.
const OptionValues kAll{
    {"ema_decay", {0.6}},       {"lookahead_steps", {3}}, {"clip_grad_norm", {0.5}},
    {"clip_grad_value", {0.2}}, {"lr_end", {0.001}},      {"lr_warmup", {0.002}},
    {"cooldown_epochs", {1}},   {"lr_base_size", {3}},    {"lookahead_power", {2}}};

TEST_P(OptimizerResume, TwoAndTwoStepsAreFourWithAverages) {
  const Checkpoint two = trained("cut", 2, kAll);
  const Checkpoint cut = trained("cut", 4, kAll);
  const Checkpoint whole = trained("whole", 4, kAll);
  expect_equal(cut.model, whole.model);
  expect_equal(cut.optimizer, whole.optimizer);
  ASSERT_EQ(whole.ema.size(), whole.model.size());
  expect_equal(cut.ema, whole.ema);
  EXPECT_NE(whole.ema.front().data, whole.model.front().data);
  EXPECT_NE(whole.ema.front().data, two.ema.front().data);
  const Checkpoint plain = trained("plain", 4);
  EXPECT_TRUE(plain.ema.empty());
  // Lookahead's slow weights
  EXPECT_EQ(whole.optimizer.size(), plain.optimizer.size() + whole.model.size());
  EXPECT_NE(whole.model.front().data, plain.model.front().data);
}

TEST_P(OptimizerResume, CheckpointsHaveTheAverageOfTheirSteps) {
  trained("run", 5, {{"ema_decay", {0.25}}, {"ema_steps", {2}}});
  std::vector<Checkpoint> steps;
  for (int step = 1; step <= 5; ++step) {
    steps.push_back(
        load_checkpoint(folder_ / "run" / "checkpoints" / ("step-" + std::to_string(step))));
  }
  for (std::size_t t = 0; t < steps[0].model.size(); ++t) {
    SCOPED_TRACE(steps[0].model[t].name);
    EXPECT_EQ(steps[0].ema[t].name, steps[0].model[t].name);
    const std::vector<float> begin = f32_values(steps[0].ema[t]);  // a copy of the initial weights
    const std::vector<float> second = f32_values(steps[1].model[t]);
    const std::vector<float> fourth = f32_values(steps[3].model[t]);
    const std::vector<float> after_two = f32_values(steps[1].ema[t]);
    const std::vector<float> after_five = f32_values(steps[4].ema[t]);
    for (std::size_t i = 0; i < begin.size(); ++i) {
      const double two = begin[i] + (1 - 2.0 / 11) * (second[i] - begin[i]);
      ASSERT_NEAR(after_two[i], two, 1e-6);
      ASSERT_NEAR(after_five[i], two + 0.75 * (fourth[i] - two), 1e-6);
    }
  }
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const Optimizer& row : optimizers()) names.emplace_back(row.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, OptimizerResume, testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

}  // namespace winnow::train::optimizer_resume_test
