#include "app/experiment/tune_space.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "app/experiment/tune_arms.h"
#include "common/error.h"

namespace winnow::app::tune_space_test {

using ::testing::AllOf;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(TuneSpace, ReadsListsAndEnds) {
  const AxisWords list = parse_axis("lr", "0.4,0.1,0.1,2e-1");
  EXPECT_THAT(list.axis.values, ElementsAre(0.1, 0.2, 0.4));
  EXPECT_EQ(list.optimizer, "");
  EXPECT_EQ(list.axis.scale, AxisScale::kLogarithmic);
  const AxisWords ends = parse_axis("lr", "lars=0.5:50");
  EXPECT_EQ(ends.optimizer, "lars");
  EXPECT_TRUE(ends.axis.is_drawn());
  EXPECT_EQ(ends.axis.least, 0.5);
  EXPECT_EQ(ends.axis.most, 50);
  EXPECT_THAT(parse_axis("warmup-epochs", "0").axis.values, ElementsAre(0));
  EXPECT_EQ(parse_axis("warmup-epochs", "0:3").axis.most, 3);
  EXPECT_THAT(parse_axis("momentum", "0.9,0").axis.values, ElementsAre(0, 0.9));
}

TEST(TuneSpace, SaysWhatIsNoListAndNoRange) {
  for (const char* const words : {"", "0.1,", "0.1,,0.2", "0.1,abc", "nan", "inf", "1:2:3", "0.1:",
                                  "2:1", "1:1", "=0.1", "0.1 ,0.2", "1e999", "-0.1", "0", "0:1"}) {
    const std::string why = refusal([&] { parse_axis("lr", words); });
    EXPECT_THAT(why, AllOf(HasSubstr("--lr"), HasSubstr("write a list such as"))) << words;
  }
  EXPECT_THAT(refusal([] { parse_axis("lr", "0.1,abc"); }), HasSubstr("'abc' is no number"));
  EXPECT_THAT(refusal([] { parse_axis("warmup-epochs", "-1"); }), HasSubstr("0 or more"));
  for (const char* const words : {"1", "0.9,1", "0.5:1", "-0.1", "0.9,1e3"}) {
    EXPECT_THAT(refusal([&] { parse_axis("momentum", words); }), HasSubstr("from 0 to below 1"));
  }
}

TEST(TuneSpace, AGridHasEveryCombination) {
  const auto grid = grid_of({{.flag = "lr", .values = {1, 2}}, {.flag = "w", .values = {3, 4, 5}}});
  EXPECT_THAT(grid, ElementsAre(ElementsAre(1, 3), ElementsAre(1, 4), ElementsAre(1, 5),
                                ElementsAre(2, 3), ElementsAre(2, 4), ElementsAre(2, 5)));
  const TuneAxis long_axis{.flag = "lr", .values = std::vector<double>(101, 1.0)};
  EXPECT_THAT(refusal([&] { grid_of({long_axis, long_axis}); }), HasSubstr("--trials"));
}

TEST(TuneSpace, SpacesByAFactor) {
  EXPECT_THAT(spaced_by_factor(0.01, 1, 3), ElementsAre(0.01, 0.1, 1));
  EXPECT_THAT(spaced_by_factor(0.02, 2, 5), ElementsAre(0.02, 0.0632, 0.2, 0.632, 2));
}

TEST(TuneSpace, DrawsStayWhereTheyAreAndFillTheRange) {
  const std::vector<TuneAxis> axes{
      {.flag = "lr", .least = 0.001, .most = 10},
      {.flag = "weight-decay", .values = {1e-5, 1e-4, 1e-3}},
      {.flag = "warmup-epochs", .least = 0, .most = 2, .scale = AxisScale::kEven}};
  const auto draws = drawn_of(axes, 64, 7);
  EXPECT_EQ(drawn_of(axes, 64, 7), draws);
  EXPECT_NE(drawn_of(axes, 64, 8), draws);
  const auto fewer = drawn_of(axes, 10, 7);
  EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), draws.begin()));
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<int> eighths(8);
    std::vector<int> values(3);
    for (const TuneSetting& setting : drawn_of(axes, 64, seed)) {
      EXPECT_THAT(setting[0], AllOf(Ge(0.001), Le(10)));
      EXPECT_THAT(setting[2], AllOf(Ge(0), Le(2)));
      ++eighths[static_cast<std::size_t>(
          std::min(7.0, 8 * std::log(setting[0] / 0.001) / std::log(10 / 0.001)))];
      ++values[static_cast<std::size_t>(std::lround(std::log10(setting[1] / 1e-5)))];
    }
    // With 64 independent draws, some eighth would have fewer than 5 of 8 for half of all seeds.
    for (const int count : eighths) EXPECT_THAT(count, AllOf(Ge(6), Le(10)));
    for (const int count : values) EXPECT_THAT(count, AllOf(Ge(18), Le(25)));
  }
}

TEST(TuneSpace, DrawsAsManyBelowEachDecadeToOne) {
  const TuneAxis momentum{
      .flag = "momentum", .least = 0.9, .most = 0.999, .scale = AxisScale::kToOne};
  int below_99 = 0;
  for (const TuneSetting& setting : drawn_of({momentum}, 40, 5)) {
    EXPECT_THAT(setting[0], AllOf(Ge(0.9), Le(0.999)));
    EXPECT_EQ(std::stod(fmt::format("{:.6g}", setting[0])), setting[0]) << "as a command says it";
    below_99 += setting[0] < 0.99 ? 1 : 0;
  }
  EXPECT_THAT(below_99, AllOf(Ge(19), Le(21)));
}

TEST(TuneSpace, NoSettingIsDrawnTwice) {
  const std::vector<TuneAxis> axes{{.flag = "lr", .values = {0.1, 0.2, 0.4}},
                                   {.flag = "weight-decay", .values = {1e-4, 1e-3}}};
  auto all = drawn_of(axes, 6, 3);
  std::ranges::sort(all);
  EXPECT_EQ(all, grid_of(axes));
  EXPECT_THAT(refusal([&] { drawn_of(axes, 7, 3); }), HasSubstr("more than the 6 settings"));
}

TEST(TuneSpace, AllSpacesHaveTheSamePlaces) {
  const TuneAxis sgd{.flag = "lr", .least = 0.01, .most = 1};
  const TuneAxis lars{.flag = "lr", .least = 0.5, .most = 50};
  const auto of_sgd = drawn_of({sgd}, 20, 1);
  const auto of_lars = drawn_of({lars}, 20, 1);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_NEAR(of_lars[i][0] / of_sgd[i][0], 50, 0.5);  // up to the third digit
  }
}

TEST(TuneSpace, RatesFollowTheRootOfTheBatch) {
  EXPECT_EQ(default_lr("sgd", 512).least, 0.02);
  EXPECT_EQ(default_lr("sgd", 8192).most, 8);
  EXPECT_EQ(default_lr("lars", 32768).most, default_lr("lars", 512).most);
  EXPECT_THAT(refusal([] { default_lr("foo", 1); }), HasSubstr("--lr foo=A:B"));
}

TuneArmOptions options_of(std::vector<std::string> axes) {
  TuneArmOptions options{
      .optimizers = {{.name = "sgd", .flags = {"lr", "weight-decay", "warmup-epochs", "momentum"}},
                     {.name = "lars",
                      .flags = {"lr", "weight-decay", "warmup-epochs", "momentum", "lars-eta"}}},
      .batches = {512, 2048},
      .axes = {}};
  for (const std::string& words : axes) {
    const std::size_t space = words.find(' ');
    const std::string flag = words.substr(0, space);
    options.axes.push_back(parse_axis(flag, words.substr(space + 1)));
  }
  return options;
}

TEST(TuneArms, GridOfWhatIsNamed) {
  const auto arms = arms_of(options_of({"lr 0.1,0.2", "lr lars=5,10", "weight-decay 1e-4"}));
  ASSERT_EQ(arms.size(), 4U);
  EXPECT_EQ(arms[0].name(), "sgd, batch 512");
  EXPECT_EQ(arms[3].name(), "lars, batch 2,048");
  EXPECT_THAT(arms[0].settings, ElementsAre(ElementsAre(0.1, 1e-4, 1), ElementsAre(0.2, 1e-4, 1)));
  EXPECT_THAT(arms[1].settings, ElementsAre(ElementsAre(5, 1e-4, 1), ElementsAre(10, 1e-4, 1)));
}

TEST(TuneArms, WithoutWordsSevenRates) {
  TuneArmOptions options = options_of({});
  for (const TuneArm& arm : arms_of(options)) {
    EXPECT_EQ(arm.settings.size(), 7U);
    ASSERT_EQ(arm.axes.size(), 2U);
    EXPECT_THAT(arm.axes[1].values, ElementsAre(1));  // a tenth of 10 epochs of warm-up
  }
  options.has_recipe = true;
  for (const TuneArm& arm : arms_of(options)) EXPECT_EQ(arm.axes.size(), 1U);
}

TEST(TuneArms, DrawsAsManyOfEach) {
  TuneArmOptions options = options_of({"lars-eta 0.0005:0.005"});
  options.trials = 12;
  const auto arms = arms_of(options);
  for (const TuneArm& arm : arms) EXPECT_EQ(arm.settings.size(), 12U);
  EXPECT_EQ(arms[0].axes.size(), 3U);
  EXPECT_EQ(arms[1].axes.size(), 4U);
  EXPECT_EQ(arms[1].axes[3].flag, "lars-eta");
  EXPECT_THAT(arms[1].axes[2].most, DoubleEq(2));
}

TEST(TuneArms, MomentumIsTriedWhereItIsNamed) {
  const auto arms = arms_of(options_of({"lr 0.1", "momentum 0.9,0.95"}));
  EXPECT_THAT(arms[0].settings, ElementsAre(ElementsAre(0.1, 1, 0.9), ElementsAre(0.1, 1, 0.95)));
  TuneArmOptions options = options_of({"momentum sgd=0.8:0.99"});
  options.trials = 8;
  const auto drawn = arms_of(options);
  EXPECT_EQ(drawn[0].axes.back().flag, "momentum");
  EXPECT_EQ(drawn[1].axes.back().flag, "warmup-epochs");
  options = options_of({"momentum 0.9"});
  options.optimizers = {{.name = "adamw", .flags = {"lr", "weight-decay", "warmup-epochs"}}};
  EXPECT_THAT(refusal([&] { arms_of(options); }), HasSubstr("--momentum is no option of any"));
}

TEST(TuneArms, RefusesWhatIsUnequalOrMakesNoSense) {
  const auto why = [](std::vector<std::string> axes, std::size_t trials = 0) {
    return refusal([&] {
      TuneArmOptions options = options_of(std::move(axes));
      options.trials = trials;
      arms_of(options);
    });
  };
  EXPECT_THAT(
      why({"lr 0.1,0.2", "lars-eta 0.001,0.01"}),
      AllOf(HasSubstr("sgd would get 2 trials, but lars would get 4"), HasSubstr("--trials")));
  EXPECT_THAT(why({"lr 0.1:1"}), HasSubstr("--trials 12"));
  EXPECT_EQ(why({"lr 0.1:1"}, 4), "");
  EXPECT_THAT(why({"lr 0.1", "lr 0.2"}), HasSubstr("given twice"));
  EXPECT_THAT(why({"lr adamw=0.1"}), HasSubstr("not among --optimizers"));
  EXPECT_THAT(why({"lars-eta sgd=0.1"}), HasSubstr("no option of sgd"));
  EXPECT_THAT(why({"warmup-epochs 1,10"}),
              HasSubstr("is not shorter than the whole training of 10"));
}

}  // namespace winnow::app::tune_space_test
