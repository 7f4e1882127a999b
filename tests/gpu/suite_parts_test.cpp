#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "common/error.h"
#include "places.h"
#include "tests/common/temporary_folder.h"
#include "tests/gpu/report.h"
#include "tests/gpu/synthetic.h"
#include "train/backend/backend.h"

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

}  // namespace winnow::gpu::suite_parts_test
