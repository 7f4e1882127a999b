// The records of a run about itself: impossible numbers in state.json, and messages about failing
// steps.

#include "train/run/record/run_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/json_text.h"
#include "tests/common/growth.h"
#include "train/run/log/loss_watch.h"
#include "train/run/record/config_facts.h"
#include "train/run/record/setup.h"
#include "train/run/start/engine.h"
#include "train/step/not_finite.h"

namespace winnow::train::run_state_test {

using testing::HasSubstr;
using Json = nlohmann::json;

RunState some_state() {
  return {.step = 7,
          .epoch = 1.75,
          .writer = {.seed = 3, .ranks = 2, .plan = "abc"},
          .losses = {.interval = {1.5, 2}, .epoch = {0.5, 5}, .last_epoch = 0.25},
          .interval_hits = {.correct = 5, .samples = 8},
          .sums = {{"fc.weight", -7}},
          .census = {{0, 16, 11}, {1, 12, 5}},
          .best = BestEvaluation{.metric = "val.loss", .value = 0.5, .step = 4, .since = 1},
          .loss_scales = {LossScale{.factor = 1024, .adapts = true, .clean_steps = 5}}};
}

std::string refusal(const Json& json) {
  try {
    parse_state(json.dump(), "RUN/state.json");
  } catch (const FormatError& error) {
    return error.what();
  }
  return "none";
}

TEST(RunState, EveryNumberIsChecked) {
  const Json good = Json::parse(to_text(some_state()));
  ASSERT_EQ(refusal(good), "none");
  const std::vector<Json> never{-1, -1.5, 1e300, "7", nullptr, true, Json::array(), {{"a", 1}}};
  for (const char* field : {"version", "step", "seed", "ranks"}) {
    for (const Json& value : never) {
      Json bad = good;
      bad[field] = value;
      EXPECT_THAT(refusal(bad), HasSubstr("RUN/state.json")) << field << " " << value;
      EXPECT_THAT(refusal(bad), HasSubstr(field)) << field << " " << value;
    }
  }
  for (const auto& [path, value] :
       std::vector<std::pair<std::string, Json>>{{"/step", 1ULL << 63},
                                                 {"/epoch", -0.5},
                                                 {"/epoch", "1"},
                                                 {"/ranks", 1ULL << 40},
                                                 {"/plan", 7},
                                                 {"/evaluated", 1},
                                                 {"/interval_loss", 3},
                                                 {"/interval_loss/sum", nullptr},
                                                 {"/interval_loss/count", -1},
                                                 {"/interval_loss/count", (1ULL << 63) - 1},
                                                 {"/epoch_loss/count", 2.5},
                                                 {"/train_loss", true},
                                                 {"/interval_hits/correct", -1},
                                                 {"/interval_hits/samples", "8"},
                                                 {"/sums/fc.weight", 1ULL << 40},
                                                 {"/sums/fc.weight", -(1LL << 40)},
                                                 {"/sums/fc.weight", 0.5},
                                                 {"/sums", Json::array()},
                                                 {"/best", 3},
                                                 {"/best/metric", 1},
                                                 {"/best/value", nullptr},
                                                 {"/best/step", 8},
                                                 {"/best/since", -1},
                                                 {"/loss_scale", 3},
                                                 {"/loss_scale/factor", 3},
                                                 {"/loss_scale/factor", 1ULL << 25},
                                                 {"/loss_scale/factor", "1024"},
                                                 {"/loss_scale/clean_steps", -1},
                                                 {"/loss_scale/clean_steps", 2000},
                                                 {"/census", 3},
                                                 {"/census/0", {0, 16}},
                                                 {"/census/0/0", 1},
                                                 {"/census/1/1", -12},
                                                 {"/census/1/2", 0.5}}) {
    Json bad = good;
    bad[Json::json_pointer(path)] = value;
    EXPECT_THAT(refusal(bad), HasSubstr("damaged: '")) << path << " " << value;
  }
}

TEST(RunState, OlderOnesHaveNoHits) {
  Json old = Json::parse(to_text(some_state()));
  old.erase("interval_hits");
  const RunState state = parse_state(old.dump(), "it");
  EXPECT_EQ(state.interval_hits.samples, 0);
  EXPECT_EQ(parse_state(to_text(some_state()), "it").interval_hits.correct, 5);
}

TEST(RunState, HasALossScaleWhereOneAdapts) {
  const RunState state = parse_state(to_text(some_state()), "it");
  EXPECT_EQ(state.loss_scales, some_state().loss_scales);
  RunState none = some_state();
  none.loss_scales.clear();
  EXPECT_TRUE(parse_state(to_text(none), "it").loss_scales.empty());
}

TEST(RunState, MustBeOneThatTheRunCanHave) {
  const BatchLayout batches{.samples = 16, .batch = 4, .total_steps = 12};
  EXPECT_NO_THROW(check_state(some_state(), batches, "it"));
  RunState state = some_state();
  state.step = 13;
  EXPECT_THROW(check_state(state, batches, "it"), FormatError);
  state = some_state();
  state.census.pop_back();
  EXPECT_THROW(check_state(state, batches, "it"), FormatError);
  EXPECT_NO_THROW(check_state(RunState{}, batches, "it"));
}

std::string config_refusal(Json config) {
  config.erase("digest");
  try {
    parse_config(with_digest_line(config.dump(2) + "\n"), "RUN/config.json");
  } catch (const FormatError& error) {
    return error.what();
  }
  return "none";
}

Json some_config() {
  return {{"version", 1},
          {"net",
           {{"name", "lenet"},
            {"micro_batch", 4},
            {"channels", 1},
            {"height_px", 28},
            {"width_px", 28},
            {"classes", 10},
            {"mean", {0.5}},
            {"deviation", {0.25}},
            {"label_smoothing", 0.1}}},
          {"data",
           {{"cache_digest", "a"},
            {"selection", "mine"},
            {"selection_digest", "b"},
            {"eval_resize_px", 32}}}};
}

TEST(StoredConfig, EndsOfStagesAreSomeAndDiffer) {
  Json config = some_config();
  config["net"]["local"] = {
      {"updates", "greedy"}, {"ends", {"pool1", "pool2"}}, {"head", "linear"}};
  ASSERT_EQ(config_refusal(config), "none");
  for (const Json& ends : {Json::array(), Json{""}, Json{"pool1", ""}, Json{"pool1", "pool1"}}) {
    config["net"]["local"]["ends"] = ends;
    EXPECT_THAT(config_refusal(config), HasSubstr("'local', 'ends'")) << ends;
  }
}

TEST(StoredConfig, EveryNumberIsChecked) {
  const Json good = some_config();
  ASSERT_EQ(config_refusal(good), "none");
  const std::vector<Json> never{
      -1,        0,          -5,  1e30,    2.5,  1LL << 31,     1LL << 32,
      1LL << 60, 1ULL << 63, "7", nullptr, true, Json::array(), {{"a", 1}}};
  for (const char* field : {"/net/micro_batch", "/net/channels", "/net/height_px", "/net/width_px",
                            "/net/classes", "/net/mean", "/net/deviation"}) {
    for (const Json& value : never) {
      Json bad = good;
      bad[Json::json_pointer(field)] = value;
      EXPECT_THAT(config_refusal(bad), HasSubstr("'net', '" + std::string(field + 5)))
          << field << " " << value;
    }
  }
  for (const auto& [path, value] :
       std::vector<std::pair<std::string, Json>>{{"/net/channels", 2},
                                                 {"/net/height_px", 65536},
                                                 {"/net/width_px", 65536},
                                                 {"/net/mean", {0.5, 0.5}},
                                                 {"/net/mean/0", 1e300},
                                                 {"/net/deviation/0", 0},
                                                 {"/net/deviation/0", -1},
                                                 {"/net/deviation/0", 1e300},
                                                 {"/net/label_smoothing", 1.5},
                                                 {"/net/label_smoothing", -0.1},
                                                 {"/net/label_smoothing", 1e300},
                                                 {"/net/loss", "hinge"},
                                                 {"/net/loss", 7},
                                                 {"/net/loss", "focal"},
                                                 {"/data/eval_resize_px", -5},
                                                 {"/data/eval_resize_px", 27},
                                                 {"/data/eval_resize_px", 1 << 30},
                                                 {"/data/selection", "../../x"},
                                                 {"/data/selection", std::string(1'000'000, 'a')},
                                                 {"/data/selection", 7}}) {
    Json bad = good;
    bad[Json::json_pointer(path)] = value;
    EXPECT_THAT(config_refusal(bad), HasSubstr("RUN/config.json is damaged: '")) << path << value;
  }
}

// Configurations with many entries or levels are compared in time that their size bounds.
TEST(StoredConfig, DifferencesAreFoundInTimeThatItsSizeBounds) {
  constexpr int kEntries = 10'000;
  std::map<int, std::string> texts;
  for (const int entries : {kEntries, 8 * kEntries}) {
    std::string text = "{";
    for (int i = 0; i < entries; ++i) {
      text += "\"" + std::to_string(i) + "\":[" + std::to_string(i) + "],";
    }
    texts[entries] = text + R"("a":{"b":["x",{"c/d":null},[]]}})";
  }
  const auto of_entries = [&](int entries) {
    EXPECT_EQ(config_facts(texts[entries]).size(), static_cast<std::size_t>(entries) + 3);
  };
  EXPECT_LT(test::growth(kEntries, of_entries), test::kGrowthOfLinear);
  const auto facts = config_facts(texts[kEntries]);
  EXPECT_EQ(facts.at("99.0"), "99");
  EXPECT_EQ(facts.at("a.b.0"), "x");
  EXPECT_EQ(facts.at("a.b.1.c/d"), "null");
  const std::string classes = R"({"data":{"classes":["cat","dog"],"selection":"s"}})";
  EXPECT_EQ(config_facts(classes).size(), 3U);
  EXPECT_EQ(config_settings(classes).size(), 1U);  // names of classes are no settings
  EXPECT_THROW(config_facts(std::string(300'000, '[')), FormatError);
  // A long name is not repeated with each entry that it holds.
  std::string inner;
  for (int i = 0; i < 10'000; ++i) inner += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":0";
  const std::string name(50'000, 'k');
  const auto long_facts = config_facts("{\"" + name + "\":{" + inner + "}}");
  ASSERT_EQ(long_facts.size(), 1U);
  EXPECT_EQ(long_facts.at(name), "{" + inner + "}");
}

TEST(NotFinite, IsToldByStepRankSamplesAndTensor) {
  EXPECT_EQ(describe_not_finite(13, {{}, {false, 5, {4, 17, 18, 19}}}, "fc.weight"),
            "step 13: the loss is not finite on rank 1 (samples 4, 17, 18, 19 and 1 more); in the "
            "backward pass, the first gradient with NaN or infinity is that of fc.weight");
  EXPECT_EQ(describe_not_finite(2, {{false, 1, {9}}, {false, 0, {}}}, ""),
            "step 2: the loss is not finite on rank 0 (sample 9), on rank 1");
  EXPECT_EQ(describe_not_finite(2, {{}}, "conv1.weight"),
            "step 2: the loss is finite on every rank, a gradient is not finite; in the backward "
            "pass, the first gradient with NaN or infinity is that of conv1.weight");
  EXPECT_EQ(describe_not_finite(4, {{}, {}}, ""),
            "step 4: the losses are finite on every rank, but a sum of losses or gradients is not "
            "finite");
}

TEST(NotFinite, NamesTheLossScale) {
  EXPECT_EQ(describe_not_finite(3, {NotFiniteRank{}}, "fc.bias", 65536),
            "step 3: the loss is finite on every rank, a gradient is not finite; in the backward "
            "pass, the first gradient with NaN or infinity is that of fc.bias, with the loss "
            "scaled by 65536");
}

TEST(Kernels, ThatAreSlowAreSaid) {
  EXPECT_FALSE(note_on_kernels({}));
  EXPECT_FALSE(note_on_kernels({{"conv2d forward f32 n1", "brgconv:avx512_core"}}));
  EXPECT_EQ(note_on_kernels({{"a", "jit:avx2"}, {"b", "ref:any"}}).value_or(""),
            "1 of 2 layers has no fast kernel here and is computed by plain loops: b (ref:any)");
  EXPECT_EQ(note_on_kernels({{"a", "own loops"}, {"b", "ref:any"}}).value_or(""),
            "2 of 2 layers have no fast kernel here and are computed by plain loops: a (own loops) "
            "and others, see kernels in plan.json");
}

TEST(LossWatch, WarnsOnceForEveryTenThousandFold) {
  LossWatch watch(std::log(10.0));
  EXPECT_FALSE(watch.warning(1, 2.3));
  EXPECT_FALSE(watch.warning(2, 2e4));
  const auto first = watch.warning(3, 3e4);
  ASSERT_TRUE(first);
  EXPECT_THAT(*first, HasSubstr("the loss of step 3 is 3e+04, 1.3e+04 times the loss of guessing"));
  EXPECT_FALSE(watch.warning(4, 1e8));
  EXPECT_TRUE(watch.warning(5, 1e16));
  EXPECT_FALSE(watch.warning(6, 1e16));
  EXPECT_TRUE(watch.warning(7, 1e30));
  EXPECT_FALSE(LossWatch(0).warning(1, 1));
}

}  // namespace winnow::train::run_state_test
