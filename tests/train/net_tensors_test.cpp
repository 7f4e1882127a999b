// Tensors of a net on ranks that hold all, or those of their stage.
#include "train/run/record/net_tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "tests/common/thread_ranks.h"
#include "tests/train/net_options.h"
#include "train/graph/stages.h"
#include "train/nets/local_updates.h"

namespace winnow::train::net_tensors_test {

using testing::ElementsAreArray;

// resnet20 in two stages, with heads.
Graph staged() {
  NetOptions net = square_images(8, 3);
  net.batch = 2;
  const LocalSetup local{.updates = "greedy", .ends = {"layer1.2.relu2"}, .head = "linear"};
  return with_heads(local, find_net("resnet20").make(net), net);
}

// All numbers of a tensor: of its state and averages too.
std::vector<float> numbers_of(const Model::Tensor& t) {
  std::vector<float> all = t.data;
  for (const std::vector<float>& slot : t.state) all.insert(all.end(), slot.begin(), slot.end());
  all.insert(all.end(), t.slow.begin(), t.slow.end());
  all.insert(all.end(), t.ema.begin(), t.ema.end());
  return all;
}

// With a momentum and both averages; `add` is added to all numbers.
Model numbered(Model model, float add) {
  const std::vector<std::string_view> slots{"momentum"};
  allocate_state(model, slots);
  for (Model::Tensor& t : model.tensors) {
    const auto moved = [&](float by) {
      std::vector<float> numbers = t.data;
      for (float& number : numbers) number += by;
      return numbers;
    };
    const bool is_parameter = t.about.kind == ValueKind::kParameter;
    if (is_parameter) t.state = {moved(add + 1)};
    if (is_parameter) t.slow = moved(add + 2);
    t.ema = moved(add + 3);
    t.data = moved(add);
  }
  return model;
}

void expect_equal(const Model& found, const Model& wanted) {
  ASSERT_EQ(found.tensors.size(), wanted.tensors.size());
  for (std::size_t t = 0; t < wanted.tensors.size(); ++t) {
    EXPECT_EQ(found.tensors[t].about.name, wanted.tensors[t].about.name);
    EXPECT_EQ(numbers_of(found.tensors[t]), numbers_of(wanted.tensors[t]));
  }
}

class TensorsOnRanks : public testing::TestWithParam<std::vector<int>> {};

TEST_P(TensorsOnRanks, AreHandedOutAndGathered) {
  const RankStages ranks{GetParam()};
  const Graph forward = staged();
  const Model start = make_model(forward, 5);
  const Model wanted = numbered(start, 10);
  test::ThreadRanks(ranks.total()).run([&](comm::Communicator& comm) {
    const NetTensors tensors(forward, start, ranks, comm);
    Model held = numbered(tensors.held_here(start), 0);
    const float* const before = held.tensors.front().data.data();
    tensors.hand_out(held, [&](Model& part) {
      EXPECT_EQ(comm.rank(), 0);
      for (Model::Tensor& t : part.tensors) t = wanted.tensors[wanted.index_of(t.about.name)];
    });
    expect_equal(held, tensors.held_here(wanted));
    EXPECT_TRUE(comm.rank() == 0 || held.tensors.front().data.data() == before);

    Model whole;
    tensors.gather(held, [&](const Model& part) {
      EXPECT_EQ(comm.rank(), 0);
      EXPECT_EQ(part.slots, held.slots);
      whole.tensors.insert(whole.tensors.end(), part.tensors.begin(), part.tensors.end());
    });
    if (comm.rank() == 0) expect_equal(whole, wanted);
    EXPECT_TRUE(comm.rank() == 0 || whole.tensors.empty());
  });
}

INSTANTIATE_TEST_SUITE_P(All, TensorsOnRanks,
                         testing::Values(std::vector{1}, std::vector{3}, std::vector{1, 1},
                                         std::vector{3, 1}, std::vector{1, 2}));

TEST(TensorsOfAPipeline, AreHeldByTheirStageAlone) {
  const RankStages ranks{{1, 1}};
  const Graph forward = staged();
  const Model net = make_model(forward, 5);
  std::vector<std::vector<std::string>> names(2);
  test::ThreadRanks(2).run([&](comm::Communicator& comm) {
    const NetTensors tensors(forward, net, ranks, comm);
    for (const Model::Tensor& t : tensors.held_here(net).tensors) {
      names[static_cast<std::size_t>(comm.rank())].push_back(t.about.name);
    }
  });
  EXPECT_EQ(names[0].size() + names[1].size(), net.tensors.size());
  EXPECT_THAT(names[0], testing::Contains("conv1.weight"));
  EXPECT_THAT(names[0], testing::Contains("local.1.fc.weight"));
  EXPECT_THAT(names[1], testing::Contains("fc.weight"));
}

}  // namespace winnow::train::net_tensors_test
