#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "common/error.h"
#include "train/optim/learning_rate.h"
#include "train/optim/optimizer.h"
#include "train/optim/recipe_options.h"

namespace winnow::train::optim_test {

using testing::StartsWith;
using testing::ThrowsMessage;

struct Tensor {
  std::vector<float> value;
  std::vector<float> gradient;
  bool decay = true;
  std::vector<float> momentum = std::vector<float>(value.size(), 0.0F);

  void step(std::string_view optimizer, double lr, const OptionValues& options = {}) {
    const Optimizer& row = find_optimizer(optimizer);
    const std::span<float> state[] = {momentum};
    row.make(ChosenOptions(row.options, options))(
        {value, gradient, state, {.lr = lr, .decay = decay}});
  }
};

void expect_near(const std::vector<float>& got, const std::vector<double>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], want[i], 2e-6 * std::abs(want[i]));
}

// Algorithm 1 of arXiv:1708.03888, worked out by hand for |w| = 5, |g| = 1.
TEST(Lars, FollowsTheTestVector) {
  Tensor t{{3, 4}, {0.6F, 0.8F}};
  t.step("lars", 10);
  expect_near(t.momentum, {0.03, 0.04});
  expect_near(t.value, {2.97, 3.96});
  t.step("lars", 10);
  expect_near(t.momentum, {0.0567, 0.0756});
  expect_near(t.value, {2.9133, 3.8844});
}

TEST(Lars, StepIgnoresTheScaleOfTheGradientWithoutDecay) {
  const OptionValues options{{"weight_decay", {0}}};
  Tensor a{{1, -2, 0.5F}, {0.1F, 0.2F, -0.3F}};
  Tensor b{{1, -2, 0.5F}, {100, 200, -300}};
  a.step("lars", 2, options);
  b.step("lars", 2, options);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(a.value[i], b.value[i], 1e-7);
}

TEST(Lars, LeavesBiasesAndNormsUnscaled) {
  Tensor t{{3, 4}, {0.6F, 0.8F}, false};
  t.step("lars", 0.1);
  expect_near(t.value, {3 - 0.06, 4 - 0.08});
}

TEST(Lars, ZeroWeightsOrGradientsTakeThePlainStep) {
  Tensor zero_weights{{0, 0}, {0.6F, 0.8F}};
  zero_weights.step("lars", 0.1);
  expect_near(zero_weights.value, {-0.06, -0.08});
  Tensor zero_gradient{{3, 4}, {0, 0}};
  zero_gradient.step("lars", 0.1);
  expect_near(zero_gradient.value, {3 * (1 - 1e-5), 4 * (1 - 1e-5)});
}

struct SgdOptions {
  double momentum, weight_decay;
  bool nesterov;
};

// PyTorch's SGD in double, from its documentation.
void pytorch_sgd(std::vector<double>& w, const std::vector<double>& g, std::vector<double>& v,
                 double lr, const SgdOptions& o) {
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double d = g[i] + o.weight_decay * w[i];
    v[i] = o.momentum * v[i] + d;
    w[i] -= lr * (o.nesterov ? d + o.momentum * v[i] : v[i]);
  }
}

TEST(Sgd, FollowsPyTorchWithAndWithoutNesterov) {
  for (const bool nesterov : {false, true}) {
    const SgdOptions options{.momentum = 0.9, .weight_decay = 5e-2, .nesterov = nesterov};
    Tensor t{{0.5F, -1.5F, 2}, {0.1F, 0.25F, -0.5F}};
    std::vector<double> w{0.5, -1.5, 2};
    std::vector<double> v(3, 0.0);
    for (int step = 0; step < 10; ++step) {
      const std::vector<double> g(t.gradient.begin(), t.gradient.end());
      t.step("sgd", 0.1, {{"weight_decay", {5e-2}}, {"nesterov", {nesterov ? 1.0 : 0.0}}});
      pytorch_sgd(w, g, v, 0.1, options);
    }
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(t.value[i], w[i], 1e-5);
  }
}

TEST(Optimizers, UnknownNameListsTheKnown) {
  EXPECT_EQ(find_optimizer("lars").name, "lars");
  EXPECT_THAT([] { find_optimizer("adam"); },
              ThrowsMessage<UsageError>(StartsWith("unknown optimizer 'adam'; known: sgd, lars")));
}

// Each rule uses the options and the state that its row declares.
TEST(Optimizers, EachUsesItsOptionsAndSlots) {
  for (const Optimizer& row : optimizers()) {
    SCOPED_TRACE(row.name);
    const auto run = [&](const OptionValues& options) {
      const UpdateFunction update = row.make(ChosenOptions(row.options, options));
      std::vector<std::vector<float>> numbers(1 + row.slots.size(), std::vector<float>(3, 0.0F));
      numbers.front() = {3, -4, 0.5F};
      const std::vector<std::span<float>> state(numbers.begin() + 1, numbers.end());
      for (std::int64_t step = 0; step < 3; ++step) {
        const float turn = step == 1 ? -0.05F : 1;  // for rules that see only signs
        update({numbers.front(),
                std::vector<float>{0.6F * turn, -0.5F * turn, 1e-8F * turn},
                state,
                {.lr = 0.5, .step = step}});
      }
      return numbers;
    };
    const auto usual = run({});
    for (const auto& numbers : usual) EXPECT_NE(numbers, std::vector<float>(3, 0.0F));
    for (const Option& option : row.options) {
      SCOPED_TRACE(option.key);
      EXPECT_TRUE(option.range.contains(option.initial));
      const bool flips = option.kind == OptionKind::kSwitch || option.initial == 0;
      const double other = flips ? 1 - option.initial : option.initial / 2;
      EXPECT_NE(run({{std::string(option.key), {other}}}), usual);
      EXPECT_EQ(run({{std::string(option.key), {option.initial}}}), usual);
    }
  }
}

// Rows that share an option share its flag, so help and range must agree.
template <class Rows>
void expect_options_agree(const Rows& rows, const std::vector<Option>& all) {
  for (const auto& row : rows) {
    for (const Option& option : row.options) {
      const auto shared = std::ranges::find(all, option.key, &Option::key);
      ASSERT_NE(shared, all.end()) << option.key;
      EXPECT_EQ(option.what, shared->what) << option.key;
      EXPECT_EQ(option.range.text(), shared->range.text()) << option.key;
      EXPECT_EQ(option.kind, shared->kind) << option.key;
    }
  }
}

TEST(RecipeOptions, SharedOptionsAreOneFlag) {
  expect_options_agree(optimizers(), optimizer_options());
  expect_options_agree(lr_schedules(), lr_schedule_options());
}

std::vector<std::string> keys(const std::vector<RecipeEntry>& entries) {
  std::vector<std::string> keys;
  for (const RecipeEntry& entry : entries) keys.emplace_back(entry.option.key);
  return keys;
}

// A run resumes only if this text is equal.
TEST(RecipeOptions, ConfigurationHasItsKeysInTheOldOrder) {
  const std::vector<std::string> old{"momentum", "weight_decay", "nesterov", "lars_eta"};
  const OptionValues given{{"momentum", {0.5}}, {"lars_eta", {0.25}}};
  for (const char* optimizer : {"sgd", "lars"}) {
    const std::vector<RecipeEntry> entries = optimizer_entries(optimizer, given);
    EXPECT_EQ(keys(entries), old);
    EXPECT_EQ(entries[0].values, std::vector<double>{0.5});
    EXPECT_EQ(entries[1].values, std::vector<double>{1e-4});
    EXPECT_EQ(entries[2].values, std::vector<double>{1});
    EXPECT_EQ(entries[3].values, std::vector<double>{0.25});
  }
  for (const char* schedule : {"poly", "cosine", "constant"}) {
    EXPECT_TRUE(lr_schedule_entries(schedule, given).empty());
  }
}

// Runs begun before an option existed must resume too, so an option at its initial value is not
// stored.
TEST(RecipeOptions, LaterOptionsAreStoredWhereTheySaySomething) {
  const OptionValues initial{{"momentum_correction", {0}},
                             {"power", {2}},
                             {"ema_decay", {0}},
                             {"clip_grad_norm", {0}},
                             {"lr_end", {0}}};
  EXPECT_TRUE(lr_schedule_entries("poly", initial).empty());
  EXPECT_TRUE(rate_entries(initial).empty());
  EXPECT_TRUE(step_entries(initial).empty());
  EXPECT_EQ(optimizer_entries("lars", initial).size(), 4U);
  const OptionValues given{{"momentum_correction", {1}},
                           {"power", {1}},
                           {"ema_decay", {0.99}},
                           {"clip_grad_norm", {2}},
                           {"lr_end", {0.5}}};
  EXPECT_EQ(keys(lr_schedule_entries("poly", given)), std::vector<std::string>{"power"});
  EXPECT_EQ(keys(rate_entries(given)), std::vector<std::string>{"lr_end"});
  EXPECT_EQ(keys(step_entries(given)), (std::vector<std::string>{"clip_grad_norm", "ema_decay"}));
  EXPECT_EQ(keys(optimizer_entries("lars", given)).back(), "momentum_correction");
  EXPECT_EQ(optimizer_entries("sgd", initial).size(), 4U);
}

TEST(RecipeOptions, OptionsThatWouldNotBeStoredAreRefused) {
  for (const Optimizer& row : optimizers()) {
    const std::vector<std::string> stored = keys(optimizer_entries(row.name, {}));
    for (const Option& option : optimizer_options()) {
      const std::string key(option.key);
      SCOPED_TRACE(key + " with " + std::string(row.name));
      const auto check = [&] { check_recipe(row.name, "cosine", {{key, {option.initial}}}); };
      const bool own = std::ranges::find(row.options, key, &Option::key) != row.options.end();
      if (own || std::ranges::find(stored, key) != stored.end()) {
        EXPECT_NO_THROW(check());
      } else {
        EXPECT_THAT(check, ThrowsMessage<UsageError>(
                               StartsWith(flag_of(option) + " is an option of --optimizer ")));
      }
    }
  }
}

TEST(RecipeOptions, ALastRateThatNothingLeadsToIsRefused) {
  for (const LrSchedule& row : lr_schedules()) {
    SCOPED_TRACE(row.name);
    OptionValues given{{"lr_end", {0.5}}};
    if (row.name == "multistep") given["milestones"] = {3};
    LearningRate rate{.base = 8, .total_steps = 10, .schedule = row, .options = given};
    const double with = rate_at(rate, 9);
    rate.options["lr_end"] = {0};
    const auto check = [&] { check_recipe("sgd", row.name, given); };
    EXPECT_EQ(with != rate_at(rate, 9), row.has_end);
    if (row.has_end) {
      EXPECT_NO_THROW(check());
    } else {
      EXPECT_THAT(check, ThrowsMessage<UsageError>(StartsWith(
                             "--lr-end is for --sched poly, cosine, or for --cooldown-epochs")));
    }
    given["cooldown_epochs"] = {1};
    EXPECT_NO_THROW(check());
  }
}

TEST(RecipeOptions, OptionsThatNeedAnotherSayWhich) {
  const auto check = [](const OptionValues& given) {
    return [given] { check_recipe("sgd", "cosine", given); };
  };
  EXPECT_THAT(check({{"lr_sqrt", {1}}}),
              ThrowsMessage<UsageError>(StartsWith("--lr-sqrt needs --lr-base-size, ")));
  EXPECT_THAT(check({{"ema_steps", {4}}}),
              ThrowsMessage<UsageError>(StartsWith("--ema-steps needs --ema-decay, ")));
  EXPECT_THAT(check({{"lookahead_alpha", {0.5}}}),
              ThrowsMessage<UsageError>(StartsWith("--lookahead-alpha needs --lookahead-steps, ")));
  EXPECT_THAT(check({{"lookahead_power", {3}}}),
              ThrowsMessage<UsageError>(StartsWith("--lookahead-power needs --lookahead-steps, ")));
  EXPECT_THAT(check({{"lookahead_steps", {2.5}}}),
              ThrowsMessage<UsageError>("--lookahead-steps must be a whole number"));
  EXPECT_THROW(check({{"ema_decay", {1}}})(), UsageError);
  EXPECT_THROW(check({{"ema_decay", {0.9}}, {"ema_steps", {1e19}}})(), UsageError);
  EXPECT_THROW(check({{"lookahead_steps", {1e19}}})(), UsageError);
  EXPECT_THROW(check({{"clip_grad_norm", {-1}}})(), UsageError);
  EXPECT_NO_THROW(check({{"lr_sqrt", {1}},
                         {"lr_base_size", {256}},
                         {"ema_decay", {0.9}},
                         {"ema_steps", {4}},
                         {"clip_grad_value", {1}}})());
}

TEST(RecipeOptions, ValuesOutOfRangeAreRefused) {
  EXPECT_NO_THROW(check_recipe("sgd", "cosine", {{"momentum", {0}}, {"weight_decay", {0}}}));
  EXPECT_NO_THROW(check_recipe("sgd", "cosine", {{"momentum", {0.999}}, {"lars_eta", {1}}}));
  const double nan = std::nan("");
  for (const double momentum : {1.0, 1.5, -0.1, nan, HUGE_VAL}) {
    for (const char* optimizer : {"sgd", "lars"}) {
      EXPECT_THAT(
          [&] {
            check_recipe(optimizer, "cosine", {{"momentum", {momentum}}});
          },
          ThrowsMessage<UsageError>(
              StartsWith("--momentum must be at least 0 and below 1, it is ")));
    }
  }
  EXPECT_THROW(check_recipe("sgd", "cosine", {{"weight_decay", {-1e-4}}}), UsageError);
  EXPECT_THROW(check_recipe("sgd", "cosine", {{"weight_decay", {nan}}}), UsageError);
  EXPECT_THROW(check_recipe("sgd", "cosine", {{"lars_eta", {0}}}), UsageError);
  EXPECT_THROW(check_recipe("adam", "cosine", {}), UsageError);
  EXPECT_THROW(check_recipe("sgd", "step", {}), UsageError);
}

LearningRate schedule_of(std::string_view name) {
  return {.base = 8,
          .warmup_steps = 4,
          .total_steps = 14,
          .schedule = find_lr_schedule(name),
          .options = {{"lr_end", {1}}}};
}

TEST(LearningRate, WarmsUpThenDecays) {
  const LearningRate poly = schedule_of("poly");
  EXPECT_DOUBLE_EQ(rate_at(poly, 0), 2);
  EXPECT_DOUBLE_EQ(rate_at(poly, 3), 8);
  EXPECT_DOUBLE_EQ(rate_at(poly, 4), 8);
  EXPECT_DOUBLE_EQ(rate_at(poly, 9), 1 + 7 * 0.25);
  EXPECT_DOUBLE_EQ(rate_at(poly, 14), 1);
  EXPECT_DOUBLE_EQ(rate_at(poly, 99), 1);
  const LearningRate cosine = schedule_of("cosine");
  EXPECT_DOUBLE_EQ(rate_at(cosine, 9), 4.5);
  for (std::int64_t step = 4; step < 13; ++step) {
    EXPECT_GT(rate_at(cosine, step), rate_at(cosine, step + 1));
    EXPECT_GT(rate_at(poly, step), rate_at(poly, step + 1));
  }
  EXPECT_DOUBLE_EQ(rate_at({.base = 0.5, .schedule = find_lr_schedule("constant")}, 0), 0.5);
  EXPECT_THROW(find_lr_schedule("step"), UsageError);
}

}  // namespace winnow::train::optim_test
