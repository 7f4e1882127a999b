#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "common/error.h"
#include "places.h"
#include "tests/common/temporary_folder.h"
#include "tests/gpu/plans.h"
#include "tests/gpu/predict.h"
#include "tests/gpu/report.h"
#include "tests/gpu/stages.h"
#include "tests/gpu/synthetic.h"
#include "tests/train/conformance.h"
#include "tests/train/cudnn/host_device.h"
#include "train/backend/backend.h"
#include "train/backend/cudnn/cudnn.h"
#include "train/graph/operation.h"

namespace winnow::gpu::suite_parts_test {

namespace fs = std::filesystem;

class ReportTest : public testing::Test {
 protected:
  nlohmann::json written() const {
    std::ifstream file(folder_ / "stage.json");
    return nlohmann::json::parse(file);
  }
  const TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
  const Facts facts_{{"card", "a \"card\"\n"}, {"commit", "abc"}};
};

TEST_F(ReportTest, IsJsonWithWhatWasFound) {
  Report report(folder_, "stage", facts_);
  report.run("good", [&] { report.add("good", true, {{"rate", 12.5}}, ""); });
  report.run("bad", [&] { report.add("bad", false, {{"error", std::nan("")}}, "too far"); });
  report.run("thrown", [] { throw Error("out of memory"); });
  report.leave_out("other", "no means");
  EXPECT_FALSE(report.finish());
  const nlohmann::json json = written();
  EXPECT_EQ(json["schema"], "winnow.gpu/1");
  EXPECT_EQ(json["facts"]["card"], "a \"card\"\n");
  EXPECT_EQ(json["passed"], 1);
  EXPECT_EQ(json["failed"], 2);
  ASSERT_EQ(json["items"].size(), 4U);
  EXPECT_EQ(json["items"][0]["rate"], 12.5);
  EXPECT_TRUE(json["items"][1]["error"].is_null());
  EXPECT_EQ(json["items"][2]["note"], "out of memory");
  EXPECT_EQ(json["items"][3]["state"], "left out");
  EXPECT_EQ(json["finished"], true);
}

TEST_F(ReportTest, IsJsonAllTheTimeAsARunMayBeStopped) {
  Report report(folder_, "stage", facts_);
  report.add("good", true, {{"rate", 12.5}}, "", {{"plans", "\"engine 1\": 2"}});
  EXPECT_EQ(written()["items"][0]["plans"], "\"engine 1\": 2");
  EXPECT_EQ(written()["passed"], 1);
  EXPECT_EQ(written()["finished"], false);
}

TEST_F(ReportTest, GoesOnWhereItWasAndTriesFailuresAgain) {
  {
    Report report(folder_, "stage", facts_);
    report.add("good", true, {{"rate", 1}}, "");
    report.add("bad", false, {}, "");
    report.leave_out("other", "no means");
  }  // cut short
  Report report(folder_, "stage", facts_);
  int calls = 0;
  report.run("good", [&] { ++calls; });
  EXPECT_EQ(calls, 0);
  report.run("bad", [&] {
    ++calls;
    report.add("bad", true, {}, "");
  });
  EXPECT_EQ(calls, 1);
  report.leave_out("other", "no means");
  EXPECT_TRUE(report.finish());
  EXPECT_EQ(written()["items"].size(), 3U);
  EXPECT_EQ(written()["items"][0]["rate"], 1);
}

TEST_F(ReportTest, ForgetsWhatWasFoundElsewhere) {
  Report(folder_, "stage", facts_).add("good", true, {}, "");
  Report report(folder_, "stage", {{"card", "another"}});
  EXPECT_FALSE(report.finish());  // nothing ran
  EXPECT_EQ(written()["items"].size(), 0U);
}

TEST(Synthetic, ImagesAreTheSameEverywhereAndLearnable) {
  const pipeline::Batch all = synthetic_batch(0, 40, 16, 4);
  const pipeline::Batch part = synthetic_batch(30, 10, 16, 4);
  EXPECT_EQ(part.labels, std::vector<std::int32_t>(all.labels.begin() + 30, all.labels.end()));
  const std::size_t pixels = 16 * 16 * 3;
  EXPECT_TRUE(std::equal(part.pixels.begin(), part.pixels.end(),
                         all.pixels.begin() + static_cast<std::ptrdiff_t>(30 * pixels)));
  EXPECT_EQ(all.pixels[0], 240);  // the meaning of a seed never changes
  EXPECT_EQ(all.pixels[1000], 210);

  const auto backend = train::make_backend("onednn");
  const Recipe recipe{.side = 16, .classes = 4, .batch = 32, .micro_batch = 16, .lr = 0.05};
  Training training(*backend, recipe);
  double first = 0;
  double last = 0;
  for (std::uint64_t s = 0; s < 40; ++s) {
    pipeline::Batch batch = synthetic_batch(s * 32, 32, 16, 4);
    const Training::Result result = training.step(batch);
    (s < 5 ? first : last) = result.loss;
    if (s == 39) {
      EXPECT_GT(result.accuracy, 0.8);
    }
  }
  EXPECT_LT(last, 0.5 * first);
}

TEST(Losses, AreThereAndTheBandIsWiderThanTheirDifference) {
  const auto rows = read_losses(WINNOW_LOSSES);
  const auto band = bf16_band(rows);
  ASSERT_EQ(band.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_GT(band[i], std::abs(rows[i].bf16 - rows[i].f32));
    EXPECT_LT(band[i], 0.2 * rows[i].f32) << "a band so wide says nothing, step " << i;
  }
  const auto mean = [&](std::size_t first) {
    double sum = 0;
    for (std::size_t i = first; i < first + 10; ++i) sum += rows[i].f32 / 10;
    return sum;
  };
  EXPECT_LT(mean(40), mean(0) - 0.05);
}

// The rows are those of this net, this recipe and this optimizer: they follow a change of those.
TEST(Losses, BeginAsThisBuildComputesThem) {
  const auto rows = read_losses(WINNOW_LOSSES);
  const auto backend = train::make_backend("onednn");
  const auto now = losses(*backend, compared_recipe(train::DType::kF32), 3);
  for (std::size_t i = 0; i < now.size(); ++i) EXPECT_NEAR(now[i], rows[i].f32, 1e-5 * now[i]);
}

using testing::AllOf;
using testing::HasSubstr;
using train::cudnn::HostDevice;

TEST(Plans, AreCountedByNameAndComparedLayerByLayer) {
  const Plans any = plans_of({{"forward tf32 n4", "engine 1", true},
                              {"forward tf32 n5", "engine 1", true},
                              {"backward-data tf32 n4", "engine 2", true}});
  EXPECT_EQ(in_words(any), "engine 1: 2, engine 2: 1");
  EXPECT_EQ(in_words({}), "none");
  std::vector<MadeProduct> made{{"forward tf32 n4 deterministic", "engine 1", true},
                                {"forward tf32 n5 deterministic", "engine 1", true},
                                {"backward-data tf32 n4 deterministic", "engine 2", true}};
  EXPECT_EQ(compared(any, plans_of(made)), "the same for all 3 layers");
  made[2].plan = "engine 7";
  EXPECT_EQ(compared(any, plans_of(made)),
            "others for 1 of 3 layers: backward-data tf32 n4 by engine 7, not engine 2");
}

const std::vector<RoundedLayer> kRounded = {{"conv2d_3x3", true, 2e-7, 3e-4},
                                            {"conv2d_backward_data_3x3", true, 2e-7, 3e-4},
                                            {"conv2d_backward_filter_3x3", true, 2e-7, 3e-4},
                                            {"conv2d_stem", false, 2e-7, 2e-7}};

TEST(Tf32, PassesWhereEveryPassRoundsOnTensorCores) {
  const Verdict verdict = judge_tf32(kRounded);
  EXPECT_TRUE(verdict.passed) << verdict.note;
}

TEST(Tf32, FailsWhereNothingIsRounded) {
  auto layers = kRounded;
  layers[1].tf32_error = 1.9e-6;
  EXPECT_FALSE(judge_tf32(layers).passed);
  EXPECT_THAT(judge_tf32(layers).note,
              AllOf(HasSubstr("conv2d_backward_data_3x3"), HasSubstr("nothing was rounded")));
  layers[1].tf32_error = layers[1].f32_error = 0;  // numbers that are exact in either
  EXPECT_FALSE(judge_tf32(layers).passed);
  layers[1].tensor_cores = false;
  layers.push_back({"linear_backward_data", true, 2e-7, 3e-4});
  EXPECT_TRUE(judge_tf32(layers).passed);
}

TEST(Tf32, FailsBeyondItsTolerance) {
  auto layers = kRounded;
  for (const double error : {6e-3, std::numeric_limits<double>::infinity(), std::nan("")}) {
    layers[2].tf32_error = error;
    EXPECT_FALSE(judge_tf32(layers).passed) << error;
  }
}

TEST(Tf32, FailsWhereAPassHasNoLayerOnTensorCores) {
  for (std::size_t pass = 0; pass < 3; ++pass) {
    auto layers = kRounded;
    layers[pass].tensor_cores = false;
    EXPECT_FALSE(judge_tf32(layers).passed);
    EXPECT_THAT(judge_tf32(layers).note, HasSubstr("no plan for tensor cores"));
  }
  EXPECT_FALSE(judge_tf32({}).passed);
}

// By the backend on a card of host memory, which rounds as a card does, and on one that does not.
TEST(Tf32, IsFoundInWhatTheBackendComputes) {
  const auto layers = tf32_layers(std::make_shared<HostDevice>());
  const Verdict rounds = judge_tf32(layers);
  EXPECT_GE(layers.size(), 15U);
  EXPECT_TRUE(rounds.passed) << rounds.note;
  const Verdict exact = judge_tf32(tf32_layers(
      std::make_shared<HostDevice>(train::cudnn::HostDeviceOptions{.rounds_to_tf32 = false})));
  EXPECT_THAT(exact.note, HasSubstr("nothing was rounded"));
}

TEST(Prediction, CountsWhatEachKernelMovesAndComputes) {
  constexpr train::DType kType = train::DType::kBF16;
  const train::Graph graph = train::training_graph("resnet20", 8, 32, 3);
  const auto cost = [&](std::string_view op, std::size_t skipped) {
    for (const train::Node& node : graph.nodes) {
      if (train::op_name(node.op) == op && skipped-- == 0) return cost_of(graph, node, kType);
    }
    return Cost{};
  };
  // The second convolution: 16 channels to 16, 3x3, 32 x 32 pixels; its filter is f32.
  const double image = 8.0 * 16 * 32 * 32;
  EXPECT_EQ(cost("conv2d", 1).operations, 2 * image * 16 * 9);
  EXPECT_EQ(cost("conv2d", 1).bytes, 2 * image * 2 + 16 * 16 * 9 * 4);
  // The first norm reads x twice, its scale and shift, and writes y, a mean and a variance.
  EXPECT_EQ(cost("batch_norm", 0).bytes, 3 * image * 2 + 4 * 16 * 4);
  EXPECT_EQ(cost("batch_norm", 0).operations, 0);
}

TEST(Prediction, TakesTheLongerOfMovingAndComputing) {
  const Peaks card{"a card", 100, 10, 20, 40};
  EXPECT_EQ(seconds({.bytes = 300, .operations = 40}, card, train::DType::kBF16), 3);
  EXPECT_EQ(seconds({.bytes = 100, .operations = 40}, card, train::DType::kTf32), 2);
  EXPECT_EQ(seconds({.bytes = 100, .operations = 40}, card, train::DType::kF32), 4);
}

TEST(OwnKernels, LeaveNothingToLibraries) {
  const auto recorder = std::make_shared<RecordingDevice>(
      std::make_shared<OwnKernels>(std::make_shared<HostDevice>()));
  const train::Graph graph = train::training_graph("lenet", 2, 28, 1);
  train::make_cudnn_backend(recorder)->compile(graph, {.compute = train::DType::kBF16});
  const Plans plans = plans_of(recorder->take());
  EXPECT_FALSE(plans.empty());
  for (const auto& [layer, plan] : plans) EXPECT_EQ(plan, "own loops") << layer;
}

TEST(Bench, AnswersALineByALine) {
  std::istringstream cases(
      "lenet 28 10 2 bf16 0 1\nlenet 28 10 2 bf16 1 2\nno case\nlenet 28 10 2 f31 1 2\n");
  std::ostringstream results;
  bench_stage(std::make_shared<HostDevice>(), cases, results);
  std::istringstream lines(results.str());
  std::vector<nlohmann::json> answers;
  for (std::string line; std::getline(lines, line);) answers.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(answers.size(), 4U);
  for (const std::size_t i : {0, 1}) {
    EXPECT_GT(answers[i]["images_per_second"], 0) << answers[i];
    EXPECT_GT(answers[i]["memory_mib"], 0) << answers[i];
    EXPECT_EQ(answers[i]["bytes_to_host"], answers[0]["bytes_to_host"]) << "in each step";
    EXPECT_GT(answers[i]["bytes_to_host"], 4 * 400'000) << "LeNet has more weights";
  }
  EXPECT_EQ(answers[2]["error"], "no case of a bench: no case");
  EXPECT_THAT(answers[3]["error"], HasSubstr("f31"));
}

}  // namespace winnow::gpu::suite_parts_test
