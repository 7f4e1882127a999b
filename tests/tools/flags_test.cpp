#include "tools/flags/flags.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "common/error.h"

namespace winnow::tools::flags_test {
namespace {

using Words = std::vector<std::string>;

const Check kEven{"even", [](const std::string& text) {
                    return text.back() % 2 == 0 ? "" : "must be even, it is " + text;
                  }};

const Check kAtMostOne{"[0, 1]",
                       [](const std::string& text) {
                         return std::stod(text) <= 1 ? "" : "must be at most 1, it is " + text;
                       },
                       /*takes_percent=*/true};

// A program with one verb, `thin`.
class FlagsTest : public testing::Test {
 protected:
  // The error message for these words; empty: none.
  std::string refusal(std::string words) {
    try {
      app_.parse(words);
      return {};
    } catch (const CLI::ParseError& error) {
      return error.what();
    }
  }

  CLI::App app_{"winnow"};
  const Verb verb_ = Verb(app_).add_verb("thin", "Thin a cache");
};

TEST_F(FlagsTest, AConditionRefusesWithItsOwnSentence) {
  int count = 2;
  verb_.add_option("--count", count, "How many").check(kEven);
  EXPECT_NE(verb_.app().help().find("INT:even"), std::string::npos);
  EXPECT_EQ(refusal("thin --count 3"), "--count: must be even, it is 3");
  EXPECT_EQ(refusal("thin --count 4"), "");
  EXPECT_EQ(count, 4);
}

TEST_F(FlagsTest, ASharesPercentIsAHundredth) {
  double share = 0;
  std::vector<double> shares;
  verb_.add_option("--val", share, "Share of val").check(kAtMostOne);
  verb_.add_option("--removed", shares, "Shares").check(kAtMostOne).delimiter(',').one_each();
  EXPECT_EQ(refusal("thin --val 12.5% --removed 10%,0.25"), "");
  EXPECT_EQ(share, 0.125);
  EXPECT_EQ(shares, (std::vector<double>{0.1, 0.25}));
  EXPECT_EQ(refusal("thin --val 110%"), "--val: must be at most 1, it is 1.1");
}

TEST_F(FlagsTest, WordsOfACommandDoTheSame) {
  std::string cache;
  std::vector<int> bits;
  bool json = false;
  std::optional<bool> verify;
  verb_.add_option("cache", cache, "A cache").required();
  verb_.add_option("--bits", bits, "Thresholds").delimiter(',').one_each();
  verb_.add_flag("--json", json, "Print JSON");
  verb_
      .on_switch(
          "--verify,!--no-verify", [&](bool is_on) { verify = is_on; }, "Look")
      .last_holds();
  ASSERT_EQ(refusal("thin --bits 4,6 here --verify --no-verify"), "");
  EXPECT_EQ(verify, false);
  EXPECT_EQ(words_of(verb_), (Words{"winnow", "thin", "here", "--bits", "4,6", "--no-verify"}));
  EXPECT_TRUE(verb_.given("--bits"));
  EXPECT_FALSE(verb_.given("--json"));
  EXPECT_TRUE(verb_.flag("--json").is_switch());
}

TEST_F(FlagsTest, AChoiceThatIsNearlyRightIsNamed) {
  std::string keep;
  verb_.add_option("--keep", keep, "Which stays").one_of({"best", "first"});
  EXPECT_EQ(refusal("thin --keep best"), "");
  EXPECT_EQ(refusal("thin --keep bset"),
            "--keep: there is no 'bset'; known: best, first; did you mean best?");
}

TEST_F(FlagsTest, AFlagUnderAHeadingIsOneOfTheVerb) {
  int count = 2;
  const Verb titled = verb_.titled("Numbers");
  titled.add_option("--count", count, "How many");
  ASSERT_EQ(refusal("thin --count 3"), "");
  EXPECT_EQ(count, 3);
  EXPECT_EQ(verb_.app().get_option("--count")->get_group(), "Numbers");
  EXPECT_TRUE(verb_.given("--count"));
}

TEST_F(FlagsTest, AFlagOfAGroupIsOneOfTheVerb) {
  double rate = 0.5;
  verb_.add_group("Recipe").add_option("--rate", rate, "The rate");
  ASSERT_EQ(refusal("thin --rate 0.25"), "");
  EXPECT_EQ(verb_.flag("--rate").number(), 0.25);
  EXPECT_EQ(verb_.all_flags().back().long_name(), "rate");
}

TEST_F(FlagsTest, AValueThatIsGivenLaterIsHeldToItsCondition) {
  int count = 2;
  const Flag flag = verb_.add_option("--count", count, "How many").check(kEven);
  ASSERT_EQ(refusal("thin"), "");
  flag.give({"8"});
  EXPECT_EQ(count, 8);
  EXPECT_TRUE(flag.given());
  int other = 2;
  const Flag odd = verb_.add_option("--other", other, "How many").check(kEven);
  EXPECT_THROW(refusals_as_usage_errors([&] { odd.give({"7"}); }), UsageError);
}

TEST_F(FlagsTest, AFunctionMayRefuseOrEnd) {
  verb_.on_option<std::string>(
      "--recipe", [](const std::string& name) { refuse_value("--recipe", "no " + name); }, "One");
  verb_.on_flag(
      "--show", [] { print_and_end("shown"); }, "Show");
  EXPECT_EQ(refusal("thin --recipe soup"), "--recipe: no soup");
  EXPECT_EQ(refusal("thin --show"), "shown");
}

}  // namespace
}  // namespace winnow::tools::flags_test
