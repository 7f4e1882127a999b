// A run that goes on from its checkpoint ends with the bits of one that never stopped, with every
// optimiser of the table.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "common/comm/communicator.h"
#include "train/backend/reference/reference.h"
#include "train/checkpoint/checkpoint.h"
#include "train/optim/optimizer.h"
#include "train/run/train.h"

namespace winnow::train {
namespace {

namespace fs = std::filesystem;

// 22 gray images of 16 x 16 to train on.
const fs::path kCache = fs::path(WINNOW_GOLDEN) / "v1" / "raw";

class OptimizerResume : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("optimizer_resume_" + GetParam());
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  Checkpoint trained(const std::string& run, std::int64_t steps) const {
    TrainOptions o;
    o.net = "lenet";
    o.data.cache = kCache;
    o.recipe.optimizer = GetParam();
    o.recipe.lr = 0.01;
    o.recipe.epochs = 2;
    o.batch = {.batch = 6, .micro_batch = 2};
    o.execution.backend = "reference";
    o.run.out = folder_ / run;
    o.run.max_steps = steps;
    o.run.resume = true;
    const auto comm = comm::make_single();
    train(o, *make_reference_backend(), *comm, {}, [](const std::string&) {});
    return load_checkpoint(*newest_checkpoint(o.run.out / "checkpoints"));
  }

  fs::path folder_;
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

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const Optimizer& row : optimizers()) names.emplace_back(row.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, OptimizerResume, testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace winnow::train
