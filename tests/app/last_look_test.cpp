#include "app/experiment/last_look.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "common/error.h"

namespace winnow::app::last_look_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<SweepArm> arms() {
  return {{.name = "all", .budget = "epochs", .kept = 100, .jobs = {"a1", "a2"}},
          {.name = "phash-r10-first",
           .budget = "epochs",
           .kept = 90,
           .removed = 10,
           .control = 3,
           .jobs = {"p1", "p2"}},
          {.name = "phash-r20-first",
           .budget = "epochs",
           .kept = 80,
           .removed = 20,
           .jobs = {"q1", "q2"}},
          {.name = "control-phash-r10-first",
           .budget = "epochs",
           .kept = 90,
           .removed = 10,
           .jobs = {"c1", "c2"}}};
}

const std::map<std::string, std::string> kOutcomes{{"a1", R"({"top1":0.9,"top1_leak_free":0.8})"},
                                                   {"a2", R"({"top1":0.92,"top1_leak_free":0.82})"},
                                                   {"p1", R"({"top1":0.9,"top1_leak_free":0.81})"},
                                                   {"p2", R"({"top1":0.9,"top1_leak_free":0.82})"},
                                                   {"c1", R"({"top1":0.8,"top1_leak_free":0.7})"}};

std::optional<Outcome> outcome_of(const std::string& run) {
  const auto found = kOutcomes.find(run);
  if (found == kOutcomes.end()) return std::nullopt;
  return Outcome{false, found->second};
}

TEST(LastLook, IsAtAllTheChoiceAndItsControl) {
  EXPECT_THAT(arms_to_test(arms(), 1), ElementsAre(0, 1, 3));
  EXPECT_THAT(arms_to_test(arms(), 2), ElementsAre(0, 2)) << "it has no control";
}

TEST(LastLook, ComparesWhatHasNotLeaked) {
  LastLook look{.images = 100, .leaked = 10, .looks = 1};
  look.arms = tested_arms(arms(), arms_to_test(arms(), 1), look.images, outcome_of);
  ASSERT_EQ(look.arms.size(), 3U);
  EXPECT_FALSE(look.arms[0].versus_all);
  EXPECT_NEAR(look.arms[1].versus_all->mean, 0.005, 1e-12);
  EXPECT_EQ(look.arms[1].versus_all->pairs, 2U);
  EXPECT_FALSE(look.arms[2].top1[1]) << "that run failed";
  EXPECT_NEAR(look.arms[2].versus_all->mean, -0.1, 1e-12);
  EXPECT_EQ(look.arms[2].versus_all->pairs, 1U);
  const std::string said = in_words(look, arms());
  EXPECT_THAT(said, HasSubstr("all 81.00 %, phash-r10-first 81.50 % (+0.50, "));
  EXPECT_THAT(said, HasSubstr("without the 10 that have a duplicate in training, with them "
                              "91.00 %, 90.00 %, 80.00 %"));
  EXPECT_THAT(said, Not(HasSubstr("unseen")));
  look.looks = 2;
  EXPECT_THAT(in_words(look, arms()), HasSubstr("2 different choices"));
}

TEST(LastLook, SaysWhereNothingIsToldApart) {
  const auto all_leaked = [](const std::string&) {
    return Outcome{false, R"({"top1":0.5,"top1_leak_free":null})"};
  };
  LastLook look{.images = 10, .leaked = 10, .looks = 1};
  look.arms = tested_arms(arms(), {0, 1}, look.images, all_leaked);
  EXPECT_THAT(in_words(look, arms()), HasSubstr("all 50.00 %"));
  EXPECT_THAT(in_words(look, arms()), HasSubstr("all of them have a duplicate in training"));
  const auto none_leaked = [](const std::string&) {
    return Outcome{false, R"({"top1":0.5,"top1_leak_free":0.5})"};
  };
  look = {.images = 10, .leaked = 0, .looks = 1};
  look.arms = tested_arms(arms(), {0, 1}, look.images, none_leaked);
  EXPECT_EQ(look.arms[1].top1, look.arms[1].top1_leak_free);
  EXPECT_THAT(in_words(look, arms()), HasSubstr("none of them has a duplicate in training"));
  EXPECT_EQ(in_words({.why_not = "no test split"}, arms()), "no test split");
  EXPECT_THROW(tested_arms(arms(), {0}, 10,
                           [](const std::string&) {
                             return Outcome{false, "{}"};
                           }),
               FormatError);
}

}  // namespace winnow::app::last_look_test
