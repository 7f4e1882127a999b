#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "common/file.h"
#include "tools/live/live_state.h"
#include "tools/live/live_view.h"
#include "train/run/metrics.h"

namespace winnow::tools {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using train::MetricsRow;

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

// A line of training: 100 images a step at 1,000 images/s are 0.1 s a step.
MetricsRow line(std::int64_t step, double wall, double loss, double waited, double exposed) {
  return {step,
          static_cast<double>(step) / 10,
          wall,
          {{"train.loss", loss},
           {"train.top1", 1 - loss / 4},
           {"train.total_ips", 1000},
           {"data.wait_time", waited},
           {"comm.exposed_time", exposed}}};
}

LiveState example() {
  LiveState state{.name = "run",
                  .batch = 100,
                  .pace = {.first = 0, .done = 6000, .total = 12000, .seconds = 60},
                  .note = "epoch 6, loss 0.25"};
  for (int i = 1; i <= 60; ++i) add(state, {line(i, i, 4.0 - i / 16.0, i * 0.02, i * 0.01)});
  add(state, {{60, 6, 60, {{"val.loss", 1.5}, {"val.top1", 0.625}}}});
  return state;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& each : lines) text += each + "\n";
  return text;
}

TEST(LiveState, TellsStepsFromWhatLiesBetweenThem) {
  LiveState state{.batch = 100};
  add(state, {line(10, 1.0, 3, 0.25, 0.125), line(20, 4.0, 2, 0.75, 0.125)});
  // Ten steps take a second; the other two were an evaluation, say.
  EXPECT_NEAR(state.lately.data, 0.5, 1e-12);
  EXPECT_NEAR(state.lately.communication, 0, 1e-12);
  EXPECT_NEAR(state.lately.computing, 0.5, 1e-12);
  EXPECT_NEAR(state.lately.between, 2, 1e-12);
  EXPECT_NEAR(state.so_far.data, 0.75, 1e-12);
  EXPECT_NEAR(state.so_far.communication, 0.125, 1e-12);
  EXPECT_NEAR(state.so_far.all(), 4, 1e-12);
  EXPECT_EQ(state.images_per_second, 1000);
}

TEST(LiveState, CountersBeginAnewWhereARunGoesOn) {
  LiveState state{.batch = 100};
  add(state, {line(10, 1.0, 3, 0.75, 0.125), line(20, 2.0, 2, 0.25, 0.0625)});
  EXPECT_NEAR(state.lately.data, 0.25, 1e-12);
  EXPECT_NEAR(state.lately.communication, 0.0625, 1e-12);
  EXPECT_NEAR(state.lately.between, 0, 1e-12);
}

TEST(LiveState, EvaluationsArePointsOfTheirOwn) {
  const LiveState state = example();
  EXPECT_EQ(state.loss.train.size(), 60U);
  ASSERT_EQ(state.accuracy.val.size(), 1U);
  EXPECT_EQ(state.accuracy.val[0].value, 0.625);
  EXPECT_EQ(state.accuracy.val[0].epoch, 6);
  EXPECT_TRUE(state.accuracy.test.empty());
  EXPECT_EQ(state.last.step, 60);
}

TEST(LiveState, FollowsAFileThatGrowsAndOneThatBeginsAnew) {
  const fs::path path = fs::path(testing::TempDir()) / "live_test.jsonl";
  fs::remove(path);
  train::MetricsTail tail(path);
  LiveState state{.name = "run", .note = "here"};
  follow(state, tail);
  EXPECT_TRUE(state.loss.train.empty());
  train::MetricsLog log(path, -1);
  log.write({1, 0.5, 1, {{"train.loss", 2}}});
  follow(state, tail);
  follow(state, tail);
  EXPECT_EQ(state.loss.train.size(), 1U);
  AppendFile(path).append("{\"step\":2,\"epoch\":1,");  // the rest is still to come
  follow(state, tail);
  EXPECT_EQ(state.loss.train.size(), 1U);
  AppendFile(path).append(
      "\"wall\":2,\"train.loss\":1}\n{\"step\":3,\"epoch\":1e300,\"wall\":2}\n");
  follow(state, tail);
  ASSERT_EQ(state.loss.train.size(), 2U);
  EXPECT_EQ(state.loss.train[1].value, 1);
  train::MetricsLog(path, 1).write({2, 1, 3, {{"train.loss", 1.5}}});  // step 2 again
  follow(state, tail);
  ASSERT_EQ(state.loss.train.size(), 2U);
  EXPECT_EQ(state.loss.train[1].value, 1.5);
  EXPECT_EQ(state.note, "here");
  fs::remove(path);
}

TEST(LiveView, FillsATerminalOf80By24) {
  const auto lines = live_view(example(), 79, 24);
  EXPECT_EQ(lines.size(), 24U);
  const std::string text = joined(lines);
  EXPECT_THAT(lines[0], testing::StartsWith("winnow train  run "));
  EXPECT_THAT(lines[0], testing::EndsWith("  1 min 0 s left"));
  EXPECT_THAT(lines[1], HasSubstr("50.0 %  epoch 6, loss 0.25  1000 images/s"));
  EXPECT_THAT(text, HasSubstr("loss  ⠒⠒ training 0.25  o val 1.5"));
  EXPECT_THAT(text, HasSubstr("accuracy  ⠒⠒ training 93.8 %  o val 62.5 %"));
  EXPECT_THAT(text, HasSubstr("epoch 6"));
  EXPECT_THAT(text, HasSubstr("  7 %   2 %   1 %  90 %"));
}

TEST(LiveView, NeverLeavesTheTerminal) {
  LiveState state = example();
  state.name = std::string(300, 'n');
  state.sentences = {"first", "läßt " + std::string(400, 'u'), "third", "fourth"};
  for (int width = 1; width <= 130; ++width) {
    for (int height = 1; height <= 60; ++height) {
      const auto lines = live_view(state, width, height);
      ASSERT_LE(lines.size(), static_cast<std::size_t>(height)) << width;
      for (const std::string& each : lines) {
        ASSERT_LE(width_of(each), static_cast<std::size_t>(width)) << width << " x " << height;
      }
    }
  }
  EXPECT_THAT(joined(live_view(state, 79, 24)), HasSubstr("läßt uuu"));
  EXPECT_THAT(joined(live_view(state, 79, 24)), testing::Not(HasSubstr("first")));
}

TEST(LiveView, HasChartsSideBySideWhereTheyFit) {
  const auto lines = live_view(example(), 160, 20);
  EXPECT_TRUE(std::ranges::any_of(lines, [](const std::string& each) {
    return each.starts_with("loss ") && each.find("accuracy ") != std::string::npos;
  }));
}

// The lines of a chart of training alone, without ticks.
std::vector<std::string> curve_of(const std::vector<LivePoint>& points) {
  LiveState state;
  state.loss.train = points;
  const auto lines = live_view(state, 18, 12);  // eight columns, four rows of curve
  std::vector<std::string> curve;
  for (const std::string& each : lines) {
    const std::size_t at = each.find("│");
    if (at != std::string::npos) curve.push_back(each.substr(at + std::string("│").size()));
  }
  return curve;
}

TEST(LiveView, DrawsAStraightLineStraight) {
  EXPECT_THAT(curve_of({{0, 1}, {1, 0}}),
              ElementsAre("⠑⢄      ", "  ⠑⢄    ", "    ⠑⢄  ", "      ⠑⢄"));
  EXPECT_THAT(curve_of({{0, 0}, {1, 1}}),
              ElementsAre("      ⡠⠊", "    ⡠⠊  ", "  ⡠⠊    ", "⡠⠊      "));
}

TEST(LiveView, DrawsOnePointAndNone) {
  EXPECT_THAT(curve_of({{1, 3}}), ElementsAre("        ", "       ⢀", "        ", "        "));
  EXPECT_THAT(curve_of({}), ElementsAre("        ", "        ", "        ", "        "));
}

TEST(LiveView, SharesOfTimeAddUpToTheBar) {
  LiveState state;
  state.lately = {.computing = 5, .data = 2.5, .communication = 1.25, .between = 1.25};
  const auto lines = live_view(state, 72, 24);  // 40 columns of bar
  std::string bar;
  for (const auto& [sign, count] :
       std::vector<std::pair<std::string, int>>{{"█", 20}, {"▓", 10}, {"▒", 5}, {"░", 5}}) {
    for (int i = 0; i < count; ++i) bar += sign;
  }
  EXPECT_THAT(joined(lines), HasSubstr("lately  " + bar + "  50 %  25 %  12 %  12 %"));
  EXPECT_THAT(joined(lines),
              HasSubstr("so far  " + std::string(40, ' ') + "   - %   - %   - %   - %"));
}

}  // namespace
}  // namespace winnow::tools
