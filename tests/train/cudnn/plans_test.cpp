#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/common/temporary_folder.h"
#include "tests/train/cases.h"
#include "tests/train/conformance.h"
#include "tests/train/cudnn/asked_for.h"
#include "tests/train/cudnn/patterns.h"
#include "train/backend/cudnn/compiled.h"
#include "train/backend/cudnn/cudnn_convolution_internal.h"
#include "train/backend/cudnn/plan_cache.h"

// cuDNN plans for cards that are not present, from their properties alone.
namespace winnow::train::cudnn::plans_test {

// Every convolution of the nets and of the table of operations.
AllConvolutions convolutions(const CompileOptions& options) {
  AskedFor device;
  for (const OpCase& made : op_cases()) compile_graph(made.graph, options, device);
  compile_graph(training_graph("lenet", 64, 28, 1), options, device);
  compile_graph(training_graph("resnet20", 128, 32, 3), options, device);
  compile_graph(training_graph("resnet50", 32, 224, 3), options, device);
  return std::move(device.convolutions);
}

const SimulatedCard& kH200 = simulated_cards().front();

struct Setting {
  const char* name;
  DType compute;
};
const Setting kSettings[] = {
    {"f32", DType::kF32}, {"tf32", DType::kTf32}, {"bf16", DType::kBF16}, {"f16", DType::kF16}};

class Plans
    : public testing::TestWithParam<std::tuple<SimulatedCard, Setting, /* deterministic */ bool>> {
};
INSTANTIATE_TEST_SUITE_P(All, Plans,
                         testing::Combine(testing::ValuesIn(simulated_cards().first(2)),
                                          testing::ValuesIn(kSettings), testing::Bool()),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::get<1>(info.param).name +
                                  (std::get<2>(info.param) ? "_deterministic" : "_any");
                         });

std::vector<std::string> without_plan(const AllConvolutions& asked, const PlanTarget& target) {
  std::vector<std::string> missing;
  for (const auto& [name, d] : asked) {
    if (!find_plan(d, target)) missing.push_back(name);
  }
  return missing;
}

// Convolutions whose results have another type than their operands are left out. Programs ask for
// them first and fall back to rounded results if there is no plan, as in cuDNN 9.19.
TEST_P(Plans, ThereIsOneForEveryConvolution) {
  const auto& [card, setting, deterministic] = GetParam();
  const Descriptor properties = make_card_properties(card.properties);
  auto asked = convolutions({.compute = setting.compute, .deterministic = deterministic});
  std::erase_if(asked, [](const auto& row) { return row.second.type != row.second.result; });
  EXPECT_GT(asked.size(), 60U);
  EXPECT_THAT(without_plan(asked, {.handle = nullptr, .properties = &properties}),
              testing::IsEmpty());
}

ConvolutionDescription some_convolution(Pass pass, Element type, Element result) {
  ConvolutionDescription d;
  d.pass = pass;
  d.type = type;
  d.result = result;
  d.extents = {{32, 64, 56, 28}, {32, 128, 28, 14}, 3, 3, both_axes(2, 1)};
  return d;
}
constexpr Pass kPasses[] = {Pass::kForward, Pass::kBackwardData, Pass::kBackwardFilter};

TEST(PlanSearch, FindsNothingForWhatNoEngineComputes) {
  const Descriptor properties = make_card_properties(kH200.properties);
  const PlanTarget target{.handle = nullptr, .properties = &properties};
  ConvolutionDescription d = some_convolution(Pass::kForward, Element::kF32, Element::kF32);
  d.extents.y.h = 5;  // does not match the extents
  EXPECT_FALSE(find_plan(d, target));
  EXPECT_NO_THROW(
      find_plan(some_convolution(Pass::kBackwardFilter, Element::kBf16, Element::kF32), target));
}

TEST(PlanSearch, KeepsToWhatWasAskedFor) {
  const Descriptor properties = make_card_properties(kH200.properties);
  const PlanTarget target{.handle = nullptr, .properties = &properties};
  for (const Pass pass : kPasses) {
    const auto d = some_convolution(pass, Element::kF32, Element::kF32);
    const auto all = propose(describe(d, target), target);
    const auto is_rounding = [&](const EngineConfig& c) { return !may_compute(d, c.notes); };
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), is_rounding)) << "nothing to refuse";
    const auto plan = find_plan(d, target);
    ASSERT_TRUE(plan);
    EXPECT_LE(plan->workspace_bytes, kMaxWorkspaceBytes);
    for (const EngineConfig& c : all) {
      EXPECT_FALSE(is_rounding(c) && plan->name == "cudnn engine " + std::to_string(c.engine));
    }
  }
}

// Layers have channel counts that tensor cores accept.
TEST(PlanSearch, SaysWhichPlansAreForTensorCores) {
  for (const SimulatedCard& card : simulated_cards()) {
    const Descriptor properties = make_card_properties(card.properties);
    const PlanTarget target{.handle = nullptr, .properties = &properties};
    for (const Pass pass : kPasses) {
      auto d = some_convolution(pass, Element::kF32, Element::kF32);
      const auto exact = find_plan(d, target);
      d.tf32 = true;
      const auto rounding = find_plan(d, target);
      ASSERT_TRUE(exact && rounding);
      EXPECT_FALSE(exact->tensor_cores) << card.name << ", " << name_of(pass);
      EXPECT_TRUE(rounding->tensor_cores) << card.name << ", " << name_of(pass);
    }
  }
}

TEST(PlanSearch, TakesTheEngineThatIsNamedOrNone) {
  const Descriptor properties = make_card_properties(kH200.properties);
  const PlanTarget target{.handle = nullptr, .properties = &properties};
  for (const Pass pass : kPasses) {
    const auto d = some_convolution(pass, Element::kBf16, Element::kBf16);
    const auto first = find_plan(d, target);
    ASSERT_TRUE(first);
    int others = 0;
    for (const EngineConfig& config : propose(describe(d, target), target)) {
      const std::string name = "cudnn engine " + std::to_string(config.engine);
      const auto plan = find_plan(d, target, &name);
      if (!plan) continue;
      EXPECT_EQ(plan->name, name);
      others += name == first->name ? 0 : 1;
    }
    EXPECT_GT(others, 0) << "cuDNN proposes one engine alone";
    const std::string unknown = "cudnn engine 123456";
    EXPECT_FALSE(find_plan(d, target, &unknown));
  }
}

TEST(PlanSearch, StoredPlansAreTakenUpAgain) {
  const Descriptor properties = make_card_properties(kH200.properties);
  const PlanTarget target{.handle = nullptr, .properties = &properties};
  const TemporaryFolder folder;
  const PlanCache cache(folder.path());
  for (const Pass pass : kPasses) {
    for (const Element type : {Element::kF32, Element::kBf16, Element::kF16}) {
      const auto d = some_convolution(pass, type, type);
      const auto plan = find_plan(d, target);
      ASSERT_TRUE(plan);
      cache.store(to_string(d), to_json(*plan));
      const auto stored = cache.find(to_string(d));
      ASSERT_TRUE(stored);
      const auto again = parse_plan(*stored, target);
      ASSERT_TRUE(again);
      EXPECT_EQ(again->name, plan->name);
      EXPECT_EQ(again->workspace_bytes, plan->workspace_bytes);
      EXPECT_EQ(again->tensor_cores, plan->tensor_cores);
      EXPECT_EQ(to_json(*again), to_json(*plan));
    }
  }
}

TEST(PlanSearch, TakesNoStoredPlanThatIsNone) {
  const Descriptor properties = make_card_properties(kH200.properties);
  const PlanTarget target{.handle = nullptr, .properties = &properties};
  const auto plan =
      find_plan(some_convolution(Pass::kForward, Element::kBf16, Element::kBf16), target);
  ASSERT_TRUE(plan);
  const std::string json = to_json(*plan);
  for (const std::string& bad :
       {std::string(), std::string("{}"), std::string("plan"), json.substr(0, json.size() / 2)}) {
    EXPECT_FALSE(parse_plan(bad, target)) << bad;
  }
}

}  // namespace winnow::train::cudnn::plans_test
