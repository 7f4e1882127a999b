// The trainer on a backend that computes later and keeps weights elsewhere, against the same on one
// that does neither. tests/end_to_end trains by the program.

#include <gtest/gtest.h>

#include <filesystem>

#include "common/error.h"
#include "deferred_backend.h"
#include "train/backend/reference/reference.h"
#include "train/checkpoint/checkpoint.h"
#include "train/run/evaluate_run.h"
#include "train/run/train.h"

namespace winnow::train {
namespace {

namespace fs = std::filesystem;

// 22 gray images of 16 x 16 to train on.
const fs::path kCache = fs::path(WINNOW_GOLDEN) / "v1" / "raw";

class Trainer : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::path(testing::TempDir()) /
        (std::string("trainer_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  TrainOptions options(const std::string& run, std::int64_t steps) const {
    TrainOptions o;
    o.net = "lenet";
    o.data.cache = kCache;
    o.recipe.epochs = 2;
    o.batch = {.batch = 6, .micro_batch = 2};
    o.execution.backend = "reference";
    o.execution.bucket_bytes = 4096;
    o.run.out = folder_ / run;
    o.run.max_steps = steps;
    return o;
  }

  TrainResult trained(const TrainOptions& o, Backend& backend) const {
    const auto comm = comm::make_single();
    return train(o, backend, *comm, {}, [](const std::string&) {});
  }

  Checkpoint last_checkpoint(const std::string& run) const {
    return load_checkpoint(*newest_checkpoint(folder_ / run / "checkpoints"));
  }

  static void expect_equal(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t t = 0; t < a.size(); ++t) {
      EXPECT_EQ(a[t].name, b[t].name);
      EXPECT_EQ(a[t].data, b[t].data) << a[t].name;
    }
  }

  fs::path folder_;
};

TEST_F(Trainer, KeepsWhatIsElsewhereInItsCheckpointsAndGoesOnFromThem) {
  const auto reference = make_reference_backend();
  const TrainResult want = trained(options("whole", 6), *reference);
  const auto before = make_deferred_backend(std::make_shared<DeferredState>());
  trained(options("cut", 3), *before);
  const auto after = make_deferred_backend(std::make_shared<DeferredState>());
  TrainOptions go_on = options("cut", 6);
  go_on.run.resume = true;
  const TrainResult got = trained(go_on, *after);

  EXPECT_EQ(got.steps, 6);
  ASSERT_TRUE(want.score && got.score);
  EXPECT_EQ(got.score->split, want.score->split);
  EXPECT_EQ(got.score->top1, want.score->top1);
  const Checkpoint whole = last_checkpoint("whole");
  const Checkpoint cut = last_checkpoint("cut");
  EXPECT_EQ(cut.step, 6);
  expect_equal(cut.model, whole.model);
  expect_equal(cut.optimizer, whole.optimizer);

  EvalOptions eval;
  eval.run = folder_ / "cut";
  eval.data.cache = kCache;
  eval.with_logits = true;
  const auto comm = comm::make_single();
  const EvalResult expected = evaluate_run(eval, *reference, *comm, {});
  const EvalResult found = evaluate_run(eval, *after, *comm, {});
  EXPECT_GT(found.evaluation.samples, 0U);
  EXPECT_EQ(found.evaluation.logits, expected.evaluation.logits);
  EXPECT_EQ(found.evaluation.loss, expected.evaluation.loss);
  EXPECT_EQ(found.evaluation.top1, got.score->top1);
}

TEST_F(Trainer, RefusesWhatABackendCannotDoBeforeAnythingIsWritten) {
  const auto refusal = [&](const TrainOptions& o, Backend& backend) {
    try {
      trained(o, backend);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  TrainOptions o = options("run", 1);
  o.execution.dtype = DType::kTf32;
  EXPECT_EQ(refusal(o, *make_reference_backend()), "tf32 exists on cards only: use f32");
  const auto deferred = make_deferred_backend(std::make_shared<DeferredState>());
  o = options("run", 1);
  o.execution.lane_threads = 2;
  EXPECT_TRUE(refusal(o, *deferred).ends_with("leave out --lane-threads"));
  EXPECT_FALSE(fs::exists(o.run.out));
}

}  // namespace
}  // namespace winnow::train
