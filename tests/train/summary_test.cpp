// The files that a run writes besides its metrics: its summary and its last evaluation.

#include "train/run/log/summary.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "train/run/record/stored_evaluation.h"

namespace winnow::train::summary_test {

TEST(Summary, AMeanCountsItsStepsAndOthersAreTheLast) {
  const std::vector<MetricsRow> rows{
      {3, 0.3, 1, {{"train.loss", 3}, {"train.lr", 0.5}}},
      {4, 0.4, 2, {{"train.loss", 1}, {"train.lr", 0.25}}},
      {4, 0.4, 3, {{"val.top1", 0.5}}},
      {10, 1, 4, {{"train.loss", 2}}},
      {11, 1.1, 5, {{"train.loss", 8}}},
  };
  EXPECT_EQ(summary_csv(rows),
            "step,epoch,wall,train.loss,train.lr,val.top1\n"
            "4,0.4,3,2.5,0.25,0.5\n"
            "10,1,4,2,,\n"
            "11,1.1,5,8,,\n");
  EXPECT_EQ(summary_csv({}), "step,epoch,wall\n");
}

TEST(Summary, LinesWithoutNumbersMakeNoRow) {
  EXPECT_EQ(summary_csv({{1, 1, 1, {}}, {2, 2, 2, {{"val.loss", 4}}}}),
            "step,epoch,wall,val.loss\n2,2,2,4\n");
}

StoredEvaluation some_evaluation() {
  Evaluation evaluation;
  evaluation.labels = {0, 1, 1, 2, 0, 2};
  evaluation.predictions = {0, 0, 1, 0, 1, 1};
  evaluation.losses = {0.25F, 4, 0.5F, std::numeric_limits<float>::quiet_NaN(), 4, 1};
  return stored_evaluation(
      evaluation, {10, 11, 12, 13, 14, 15}, {"a", "caf\xE9", "c"},
      {.step = 7, .epoch = 1.5, .split = "val", .cache = "/data/\xFF", .cache_digest = "00"});
}

TEST(StoredEvaluation, CountsWhatWasTakenForWhatAndKeepsTheWorst) {
  const StoredEvaluation back = parse_evaluation(to_text(some_evaluation()), "it");
  EXPECT_EQ(back.about.step, 7);
  EXPECT_EQ(back.about.epoch, 1.5);
  EXPECT_EQ(back.about.cache, "/data/\xFF");
  EXPECT_EQ(back.classes.size(), 3U);
  std::vector<std::vector<std::uint64_t>> confusion(3, std::vector<std::uint64_t>(3));
  for (const auto& c : back.confusion) {
    confusion[static_cast<std::size_t>(c.label)][static_cast<std::size_t>(c.prediction)] =
        c.samples;
  }
  EXPECT_EQ(confusion, (std::vector<std::vector<std::uint64_t>>{{1, 1, 0}, {1, 1, 0}, {1, 1, 0}}));
  std::vector<SampleId> worst;
  for (const auto& mistake : back.worst) worst.push_back(mistake.id);
  EXPECT_EQ(worst, (std::vector<SampleId>{13, 11, 14, 15})) << "no number is the largest loss";
  EXPECT_EQ(back.right, "a0") << "the first sample and the third";
}

TEST(StoredEvaluation, KeepsNoMoreThanCanBeLookedAt) {
  Evaluation evaluation;
  std::vector<SampleId> ids;
  for (int i = 0; i < 1000; ++i) {
    ids.push_back(static_cast<SampleId>(i));
    evaluation.labels.push_back(0);
    evaluation.predictions.push_back(1);
    evaluation.losses.push_back(static_cast<float>(i));
  }
  const StoredEvaluation stored = stored_evaluation(evaluation, ids, {"a", "b"}, {});
  ASSERT_EQ(stored.worst.size(), kMostMistakes);
  EXPECT_EQ(stored.worst.front().id, 999U);
  ASSERT_EQ(stored.confusion.size(), 1U);
  EXPECT_EQ(stored.confusion.front().samples, 1000U);
}

TEST(StoredEvaluation, EveryNumberIsChecked) {
  using Json = nlohmann::json;
  const Json good = Json::parse(to_text(some_evaluation()));
  for (const auto& [path, value] :
       std::vector<std::pair<std::string, Json>>{{"/version", 2},
                                                 {"/version", "1"},
                                                 {"/version", 0},
                                                 {"/step", -1},
                                                 {"/epoch", -0.5},
                                                 {"/split", 1},
                                                 {"/split", "val "},
                                                 {"/cache", nullptr},
                                                 {"/classes", {1}},
                                                 {"/confusion/0/0", 3},
                                                 {"/confusion/0/1", -1},
                                                 {"/confusion/0", {0, 1}},
                                                 {"/confusion/0/2", {}},
                                                 {"/confusion/0/2", 0},
                                                 {"/confusion/0/2", 1ULL << 54},
                                                 {"/confusion/1", {0, 0, 1}},
                                                 {"/confusion/2/0", 0},
                                                 {"/worst/1/id", 13},
                                                 {"/worst/0/label", 3},
                                                 {"/worst/0/prediction", 3},
                                                 {"/worst/0/id", -1},
                                                 {"/worst/0/loss", nullptr},
                                                 {"/right", "a4"},
                                                 {"/right", "A0"},
                                                 {"/right", "80"},
                                                 {"/worst", 1}}) {
    Json bad = good;
    bad[Json::json_pointer(path)] = value;
    EXPECT_THROW(parse_evaluation(bad.dump(), "it"), FormatError) << path << " " << value;
  }
  Json none = good;
  none["classes"] = Json::array();
  EXPECT_THROW(parse_evaluation(none.dump(), "it"), FormatError);
  Json older = good;
  older.erase("right");
  EXPECT_EQ(parse_evaluation(older.dump(), "it").right, "");
  Json sum = good;  // the label's sum exceeds the largest exact count
  sum["confusion"] = {{0, 0, 1ULL << 53}, {0, 1, 1ULL << 53}};
  EXPECT_THROW(parse_evaluation(sum.dump(), "it"), FormatError);
  Json many = good;
  for (SampleId id = 100; many["worst"].size() <= kMostMistakes; ++id) {
    many["worst"].push_back(many["worst"][0]);
    many["worst"].back()["id"] = id;
  }
  EXPECT_THROW(parse_evaluation(many.dump(), "it"), FormatError);
}

}  // namespace winnow::train::summary_test
