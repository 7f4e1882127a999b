// The run of tests/data/golden, which every later version must read. Its weights follow a formula,
// stated here again (tests/end_to_end/golden.py made them).
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "common/file.h"
#include "places.h"
#include "train/checkpoint/checkpoint.h"
#include "train/plan/run_plan.h"
#include "train/run/record/run_state.h"
#include "train/run/record/setup.h"

namespace winnow::train::golden_test {

namespace fs = std::filesystem;

const fs::path kRun = fs::path(WINNOW_GOLDEN) / "v1" / "run";

struct Wanted {
  std::string name;
  Shape shape;
};

const std::vector<Wanted> kLenet{{"conv1.weight", {20, 1, 5, 5}},  {"conv1.bias", {20}},
                                 {"conv2.weight", {50, 20, 5, 5}}, {"conv2.bias", {50}},
                                 {"fc1.weight", {500, 50}},        {"fc1.bias", {500}},
                                 {"fc2.weight", {2, 500}},         {"fc2.bias", {2}}};

// Element i of a tensor is ((step * i + per_letter * letters in its name) mod range - middle) /
// scale.
struct Formula {
  std::size_t step, per_letter, range;
  int middle;
  float scale;
};

void expect_follows(const std::vector<NamedTensor>& tensors, const std::string& prefix,
                    const Formula& f) {
  ASSERT_EQ(tensors.size(), kLenet.size());
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    EXPECT_EQ(tensors[t].name, prefix + kLenet[t].name);
    EXPECT_EQ(tensors[t].dtype, "F32");
    EXPECT_EQ(tensors[t].shape, kLenet[t].shape);
    const std::vector<float> values = f32_values(tensors[t]);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t number = (f.step * i + f.per_letter * tensors[t].name.size()) % f.range;
      ASSERT_EQ(values[i], static_cast<float>(static_cast<int>(number) - f.middle) / f.scale)
          << tensors[t].name << " " << i;
    }
  }
}

TEST(GoldenRun, Checkpoint) {
  EXPECT_EQ(newest_checkpoint(kRun / "checkpoints"), kRun / "checkpoints" / "step-2");
  const Checkpoint checkpoint = load_checkpoint(kRun / "checkpoints" / "latest");
  EXPECT_EQ(checkpoint.step, 2);
  expect_follows(checkpoint.model, "",
                 {.step = 7, .per_letter = 13, .range = 31, .middle = 15, .scale = 128});
  expect_follows(checkpoint.optimizer, "momentum.",
                 {.step = 5, .per_letter = 3, .range = 17, .middle = 8, .scale = 1024});
}

TEST(GoldenRun, State) {
  const Checkpoint checkpoint = load_checkpoint(kRun / "checkpoints" / "latest");
  const RunState state = parse_state(checkpoint.state, "state.json");
  EXPECT_EQ(state.step, 2);
  EXPECT_DOUBLE_EQ(state.epoch, 16.0 / 22);
  EXPECT_EQ(state.writer.seed, 1U);
  EXPECT_EQ(state.writer.ranks, 1);
  EXPECT_EQ(state.writer.plan, digest_of_plan(read_text(kRun / "plan.json")));
}

TEST(GoldenRun, Configuration) {
  const StoredConfig config = parse_config(read_text(kRun / "config.json"), "config.json");
  EXPECT_EQ(config.setup.net.name, "lenet");
  const NetOptions& net = config.setup.options;
  EXPECT_EQ(net.batch, 2);
  EXPECT_EQ(net.channels, 1);
  EXPECT_EQ(net.height_px, 16);
  EXPECT_EQ(net.width_px, 16);
  EXPECT_EQ(net.classes, 2);
  EXPECT_EQ(net.mean, std::vector<float>{0.49620097875595093F});
  EXPECT_EQ(net.stddev, std::vector<float>{0.28940725326538086F});
  EXPECT_EQ(config.selection, "golden");
  EXPECT_EQ(config.cache_digest, "31669f21acbf135f12776f011d0174c0");
}

TEST(GoldenRun, Plan) {
  const RunPlan plan = parse_plan(read_text(kRun / "plan.json"), "plan.json");
  EXPECT_EQ(plan.version, 1);
  EXPECT_EQ(plan.numerics.backend, "onednn");
  EXPECT_EQ(plan.numerics.lane_threads, 1);
  EXPECT_EQ(plan.layout.schedule, "multicolor");
  ASSERT_EQ(plan.layout.ranks.size(), 1U);
  EXPECT_EQ(plan.layout.ranks[0].lanes.size(), 2U);
  EXPECT_TRUE(plan.supersedes.empty());
}

}  // namespace winnow::train::golden_test
