#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include "common/error.h"
#include "tests/train/cases.h"
#include "tests/train/conformance.h"
#include "train/backend/load_state.h"
#include "train/backend/onednn/onednn.h"
#include "train/backend/reference/reference.h"

// Programs of compile_lanes. They share packed weights, which are loaded once, in parts.
namespace winnow::train::lanes_test {

using testing::HasSubstr;
using testing::ThrowsMessage;

struct Setting {
  const char* name;
  std::unique_ptr<Backend> (*make)();
  DType compute;
};
const Setting kSettings[] = {
    {"reference", make_reference_backend, DType::kF32},
    {"onednn_f32", make_onednn_backend, DType::kF32},
    {"onednn_bf16", make_onednn_backend, DType::kBF16},
};

class Lanes : public testing::TestWithParam<Setting> {
 protected:
  void SetUp() override {
    try {
      backend_->memory_of(training_graph("lenet", 1, 28, 1), options_);
    } catch (const UsageError&) {
      GTEST_SKIP() << "this processor cannot compute in bf16";
    }
  }

  const Graph graph_ = training_graph("resnet20", 2, 16, 3);
  const std::unique_ptr<Backend> backend_ = GetParam().make();
  const CompileOptions options_{.compute = GetParam().compute};
};
INSTANTIATE_TEST_SUITE_P(All, Lanes, testing::ValuesIn(kSettings),
                         [](const auto& info) { return std::string(info.param.name); });

// A lane's micro-batch: its own data, the same weights.
Inputs inputs_of_lane(const Graph& graph, int lane) {
  Inputs inputs = random_inputs(graph, 40);
  const Inputs other = random_inputs(graph, 41 + static_cast<std::uint64_t>(lane));
  for (const ValueId id : graph.of_kind(ValueKind::kInput)) inputs[id] = other.at(id);
  return inputs;
}

std::vector<std::unique_ptr<Running>> make_lanes(Backend& backend, const Graph& graph,
                                                 const CompileOptions& options, int lanes) {
  std::vector<std::unique_ptr<Running>> running;
  for (auto& program : backend.compile_lanes(graph, options, lanes)) {
    const Inputs inputs = inputs_of_lane(graph, static_cast<int>(running.size()));
    running.push_back(std::make_unique<Running>(std::move(program), inputs));
  }
  return running;
}

TEST_P(Lanes, GiveTheBitsOfProgramsCompiledAlone) {
  auto lanes = make_lanes(*backend_, graph_, options_, 3);
  lanes[1]->program().load_parameters();
  for (int lane = 0; lane < 3; ++lane) {
    Running alone(*backend_, graph_, inputs_of_lane(graph_, lane), options_);
    alone.run();
    const auto at = static_cast<std::size_t>(lane);
    lanes[at]->run();
    EXPECT_EQ(lanes[at]->outputs(), alone.outputs()) << "lane " << lane;
  }
}

// Each thread uses the program of its lane, as the trainer's steps do.
TEST_P(Lanes, LoadInPartsAtOnceEqualsLoadWhole) {
  constexpr int kLanes = 3;
  auto lanes = make_lanes(*backend_, graph_, options_, kLanes);
  auto whole = make_lanes(*backend_, graph_, options_, kLanes);
  for (int times = 0; times < 3; ++times) {
    const Inputs weights = random_inputs(graph_, 60 + static_cast<std::uint64_t>(times));
    for (const auto* group : {&lanes, &whole}) {
      for (const auto& running : *group) {
        for (const ValueId id : graph_.of_kind(ValueKind::kParameter)) {
          std::ranges::copy(weights.at(id), running->floats(id).begin());
        }
      }
    }
    whole[0]->program().load_parameters();
    std::vector<std::thread> threads;
    for (int part = 0; part < kLanes; ++part) {
      threads.emplace_back([&lanes, part] {
        lanes[static_cast<std::size_t>(part)]->program().load_parameters(part, kLanes);
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      lanes[lane]->run();
      whole[lane]->run();
      EXPECT_EQ(lanes[lane]->outputs(), whole[lane]->outputs()) << "lane " << lane;
    }
  }
}

TEST_P(Lanes, RunOnlyAfterEveryPart) {
  auto lanes = make_lanes(*backend_, graph_, options_, 2);
  const auto run = [&](std::size_t lane) { return [&lanes, lane] { lanes[lane]->run(); }; };
  EXPECT_THAT(run(0), ThrowsMessage<Error>(HasSubstr("load_parameters must be called")));
  lanes[0]->program().load_parameters(0, 2);
  EXPECT_THAT(run(0), ThrowsMessage<Error>(HasSubstr("1 of 2 parts")));
  EXPECT_THAT(run(1), ThrowsMessage<Error>(HasSubstr("1 of 2 parts")));
  lanes[0]->program().load_parameters(1, 2);
  run(0)();
  run(1)();
  lanes[1]->program().load_parameters(1, 2);  // the next load has begun
  EXPECT_THAT(run(0), ThrowsMessage<Error>(HasSubstr("1 of 2 parts")));
  EXPECT_THROW(lanes[0]->program().load_parameters(2, 2), Error);
  EXPECT_THROW(lanes[0]->program().load_parameters(-1, 2), Error);
}

TEST_P(Lanes, MemoryIsAsForetold) {
  const MemoryUse cost = backend_->memory_of(graph_, options_);
  for (const auto& program : backend_->compile_lanes(graph_, options_, 2)) {
    EXPECT_EQ(program->arena_bytes(), cost.lane_bytes + cost.shared_bytes);
  }
  EXPECT_GT(cost.lane_bytes, 0U);
  const bool packs = GetParam().make != make_reference_backend;
  EXPECT_EQ(cost.shared_bytes > 0, packs);
}

TEST_P(Lanes, ChoicesAreTheSameForAllLanes) {
  const auto lanes = backend_->compile_lanes(graph_, options_, 2);
  EXPECT_EQ(lanes[0]->choices(), lanes[1]->choices());
}

TEST(LoadParts, AreRunsThatCoverEverything) {
  constexpr std::size_t kSizes[] = {5, 1, 1, 90, 3, 40, 40, 20};
  std::size_t total = 0;
  for (const std::size_t size : kSizes) total += size;
  for (const int parts : {1, 2, 3, 8, 50}) {
    std::size_t begin = 0;
    int last = 0;
    for (const std::size_t size : kSizes) {
      const int part = part_of(begin, begin + size, total, parts);
      EXPECT_GE(part, last);
      EXPECT_LT(part, parts);
      last = part;
      begin += size;
    }
    EXPECT_EQ(part_of(0, 5, total, parts), 0);
  }
}

}  // namespace winnow::train::lanes_test
