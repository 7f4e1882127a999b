#include "app/plan/plan_toml.h"

#include <gtest/gtest.h>

#include <random>

#include "common/error.h"

namespace winnow::app::plan_toml_test {

TEST(PlanToml, IsASectionForTraining) {
  const PlannedFlags flags{{"net", "resnet50"},    {"micro-batch", "64"},  {"nesterov", "true"},
                           {"freeze", "layer1.*"}, {"freeze", "fc \"x\""}, {"lr", "0.5"}};
  EXPECT_EQ(plan_toml(flags, "by winnow plan"),
            "# by winnow plan\n[train]\nnet = \"resnet50\"\nmicro-batch = \"64\"\n"
            "nesterov = true\nfreeze = [\"layer1.*\", \"fc \\\"x\\\"\"]\nlr = \"0.5\"\n");
}

TEST(PlanToml, ParsedGivesThePlanAgain) {
  std::mt19937 source(5);
  const auto random = [&] { return static_cast<unsigned>(source()); };
  const std::string letters = "ab-_.*\"\\'= ,[]#\n\t{}0";
  for (int round = 0; round < 2000; ++round) {
    PlannedFlags flags;
    for (unsigned i = 0; i < 1 + random() % 6; ++i) {
      const std::string name = "flag-" + std::to_string(i);
      const unsigned values = random() % 3 == 0 ? 1 + random() % 3 : 1;
      for (unsigned k = 0; k < values; ++k) {
        std::string value;
        for (unsigned c = random() % 8; c > 0; --c) value += letters[random() % letters.size()];
        if (values == 1 && random() % 4 == 0) value = random() % 2 == 0 ? "true" : "false";
        flags.emplace_back(name, value);
      }
    }
    EXPECT_EQ(parse_plan_toml(plan_toml(flags, "a plan"), "plan.toml"), flags);
  }
}

TEST(PlanToml, WhatIsNoPlanIsRefused) {
  for (const char* text :
       {"net = \"x\"\n", "[train]\nnet \"x\"\n", "[train]\nnet = x\n", "[train]\nnet = \"x\n",
        "[train]\nnet = [\"x\"\n", "[train]\nnet = \"x\" y\n", "[dedup]\n"}) {
    EXPECT_THROW(parse_plan_toml(text, "plan.toml"), FormatError) << text;
  }
}

TEST(PlanToml, WordsAreThoseOfAShell) {
  EXPECT_EQ(words_of({{"net", "my net.toml"},
                      {"freeze", "a"},
                      {"freeze", "it's"},
                      {"nesterov", "false"},
                      {"lr", "0.1"}}),
            "--net 'my net.toml' --freeze a 'it'\\''s' --no-nesterov --lr 0.1");
}

}  // namespace winnow::app::plan_toml_test
