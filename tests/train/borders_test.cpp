#include "train/graph/borders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/rng.h"
#include "tests/train/net_options.h"
#include "train/nets/builder.h"
#include "train/nets/nets.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train::borders_test {

using testing::ElementsAre;
using testing::HasSubstr;

Graph forward(const Net& net) { return net.make(square_images(net.default_side_px)); }

ValueId loss_of(const Graph& graph) {
  return std::ranges::find(graph.outputs, OutputKind::kLoss, &Output::kind)->value;
}

// Whether the loss can be computed from the pixels without the value `removed`.
bool reaches_loss_without(const Graph& graph, ValueId removed) {
  std::vector<bool> reached(graph.values.size(), false);
  reached[static_cast<std::size_t>(graph.find("pixels"))] = true;
  for (const Node& node : graph.nodes) {
    const bool any = std::ranges::any_of(
        node.inputs, [&](ValueId id) { return reached[static_cast<std::size_t>(id)]; });
    if (!any) continue;
    for (const ValueId id : node.outputs) reached[static_cast<std::size_t>(id)] = id != removed;
  }
  return reached[static_cast<std::size_t>(loss_of(graph))];
}

std::vector<ValueId> values_of(const std::vector<Border>& borders) {
  std::vector<ValueId> values;
  for (const Border& border : borders) values.push_back(border.value);
  return values;
}

void expect_borders_of_brute_force(const Graph& graph) {
  std::vector<ValueId> want;
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    const auto id = static_cast<ValueId>(i);
    if (graph.values[i].kind != ValueKind::kComputed || id == loss_of(graph)) continue;
    if (!reaches_loss_without(graph, id)) want.push_back(id);
  }
  std::vector<ValueId> got = values_of(find_borders(graph));
  std::ranges::sort(got);
  EXPECT_EQ(got, want);
}

TEST(Borders, AreWhatNoPathGoesAround) {
  for (const Net& net : nets()) {
    SCOPED_TRACE(net.name);
    expect_borders_of_brute_force(forward(net));
    expect_borders_of_brute_force(fuse(forward(net)));
  }
}

TEST(Borders, HaveAllBeforeThemBeforeThem) {
  for (const Net& net : nets()) {
    SCOPED_TRACE(net.name);
    const Graph graph = fuse(forward(net));
    for (const Border& border : find_borders(graph)) {
      const auto& made = graph.nodes[border.nodes - 1].outputs;
      EXPECT_NE(std::ranges::find(made, border.value), made.end());
    }
  }
}

// Where a stage may end: after the layers before the first block, after each block, and after the
// pool behind the last.
TEST(Borders, AreInEveryNet) {
  const std::map<std::string_view, std::size_t> want = {
      {"airbench94", 7},
      {"alexnet", 7},
      {"alexnet_bn", 7},
      {"alexnet_lrn", 7},
      {"convnext_tiny", 22},
      {"densenet121", 62},
      {"efficientnet_b0", 38},
      {"googlenet_bn", 12},
      {"lenet", 3},
      {"mobilenet_v2", 32},
      {"mobilenet_v3_large", 31},
      {"mobilenet_v3_small", 27},
      {"regnet_y_400mf", 17},
      {"resnet101", 34},
      {"resnet110", 55},
      {"resnet152", 51},
      {"resnet18", 9},
      {"resnet20", 10},
      {"resnet32", 16},
      {"resnet34", 17},
      {"resnet44", 22},
      {"resnet50", 17},
      {"resnet50v2", 17},
      {"resnet56", 28},
      {"resnet9", 6},
      {"resnext50_32x4d", 17},
      {"vgg11_bn", 10},
      {"vgg16_bn", 15},
      {"vit_b_16", 25},
      {"vit_tiny_patch4_32", 25},
      {"wide_resnet50_2", 17},
      {"wrn16_4", 7},
      {"wrn28_10", 13},
  };
  std::map<std::string_view, std::size_t> got;
  for (const Net& net : nets()) got[net.name] = stage_ends(fuse(forward(net))).size();
  EXPECT_EQ(got, want);
}

std::vector<std::string> names_of_ends(const char* net) {
  const Graph graph = fuse(forward(find_net(net)));
  std::vector<std::string> names;
  for (const Border& end : stage_ends(graph)) names.push_back(graph.value(end.value).name);
  return names;
}

TEST(Borders, EndBlocks) {
  EXPECT_THAT(names_of_ends("resnet20"),
              ElementsAre("relu", "layer1.0.relu2", "layer1.1.relu2", "layer1.2.relu2",
                          "layer2.0.relu2", "layer2.1.relu2", "layer2.2.relu2", "layer3.0.relu2",
                          "layer3.1.relu2", "avgpool"));
  EXPECT_THAT(names_of_ends("vit_tiny_patch4_32"),
              testing::Contains("encoder.layers.encoder_layer_3.add_2"));
}

TEST(Borders, LoadsAddUpToTheNet) {
  for (const char* net : {"resnet20", "vit_tiny_patch4_32", "densenet121"}) {
    const Graph graph = fuse(forward(find_net(net)));
    const Load all = load_of(graph, 0, graph.nodes.size());
    EXPECT_EQ(all.parameters, count(graph).parameters) << net;
    EXPECT_EQ(2 * all.multiply_adds, count(graph).flops) << net;
    Load sum;
    std::size_t node = 0;
    std::vector<Border> ends = stage_ends(graph);
    ends.push_back({.value = -1, .nodes = graph.nodes.size()});
    for (const Border& end : ends) {
      const Load load = load_of(graph, node, end.nodes);
      EXPECT_GT(load.multiply_adds, 0) << net;
      sum.multiply_adds += load.multiply_adds;
      sum.bytes += load.bytes;
      sum.parameters += load.parameters;
      node = end.nodes;
    }
    EXPECT_EQ(sum.multiply_adds, all.multiply_adds) << net;
    EXPECT_EQ(sum.bytes, all.bytes) << net;
    EXPECT_EQ(sum.parameters, all.parameters) << net;
  }
}

TEST(Borders, AreCalledByValueOrModule) {
  const Graph graph = fuse(forward(find_net("resnet20")));
  const auto called = [&](const char* name) {
    return graph.value(border_called(graph, name).value).name;
  };
  EXPECT_EQ(called("layer1"), "layer1.2.relu2");
  EXPECT_EQ(called("layer2.1"), "layer2.1.relu2");
  EXPECT_EQ(called("layer3"), "layer3.2.relu2");
  EXPECT_EQ(called("relu"), "relu");
  const auto refuses = [&](const char* name, const char* nearest) {
    EXPECT_THAT([&] { border_called(graph, name); },
                testing::ThrowsMessage<UsageError>(
                    HasSubstr(std::string("the nearest is ") + nearest + ";")))
        << name;
  };
  refuses("layer1.1.conv1", "layer1.1.relu2");
  refuses("bn1", "relu");
  refuses("fc", "avgpool");
  refuses("layer2.1.relu", "layer2.1.relu2");
  const auto says = [&](const char* name, const char* words) {
    EXPECT_THAT([&] { border_called(graph, name); },
                testing::ThrowsMessage<UsageError>(HasSubstr(words)))
        << name;
  };
  says("layer1.1.conv1", "because a connection bypasses it; the nearest");
  says("block9", "which is not a value of the net; the first is relu, the last is avgpool; --net");
  for (const char* name : {"pixels", "image"}) {
    says(name, "because nothing is computed before it; the nearest is relu;");
  }
  for (const char* name : {"fc", "loss"}) {
    says(name, "because nothing is computed after it; the nearest is avgpool;");
  }
}

// If a value has the name of a module that holds later borders, each border is found by its own
// name.
TEST(Borders, AreFoundByExactNamesFirst) {
  NetBuilder net(square_images(8));
  ValueId x = net.conv("stem", net.image(), {.filters = 4});
  x = net.relu("stem.relu", x);
  x = net.conv("stem.next", x, {.filters = 4});
  x = net.linear("fc", net.global_average_pool("avgpool", x), 10);
  const Graph graph = std::move(net).finish(x);
  const auto called = [&](const char* name) {
    return graph.value(border_called(graph, name).value).name;
  };
  EXPECT_EQ(called("stem"), "stem");
  EXPECT_EQ(called("stem.next"), "stem.next");
  const auto exact = find_border(graph, "stem");
  ASSERT_TRUE(exact);
  EXPECT_EQ(exact->value, graph.find("stem"));
  for (const char* none : {"ste", "fc", "pixels", "stem.weight"}) {
    EXPECT_FALSE(find_border(graph, none)) << none;
  }
}

double most_of(const std::vector<std::vector<double>>& cost, const std::vector<std::size_t>& ends) {
  double most = 0;
  std::size_t first = 0;
  for (const std::size_t end : ends) {
    most = std::max(most, cost[first][end - first]);
    first = end + 1;
  }
  return std::max(most, cost[first].back());
}

double most_of_neighbours(const std::vector<std::vector<double>>& cost,
                          const std::vector<std::size_t>& ends) {
  double most = 0;
  double before = 0;
  std::size_t first = 0;
  for (const std::size_t end : ends) {
    const double stage = cost[first][end - first];
    most = std::max(most, before + stage);
    before = stage;
    first = end + 1;
  }
  return std::max(most, before + cost[first].back());
}

// Compares either way of choosing with all cuts, by the cost that it minimises.
void expect_best_of_all_cuts(decltype(choose_ends) choose, decltype(most_of) most_of) {
  CounterRng rng(3, 0, 1, RandomUse::kTest);
  for (std::size_t pieces = 1; pieces <= 13; ++pieces) {
    std::vector<std::vector<double>> cost(pieces);
    for (std::size_t first = 0; first < pieces; ++first) {
      double sum = 0;
      for (std::size_t last = first; last < pieces; ++last) {
        sum += rng.below(100);
        cost[first].push_back(sum + rng.below(40));  // a head's cost, which no sum includes
      }
    }
    std::vector<double> best(pieces, std::numeric_limits<double>::infinity());  // by number of cuts
    for (std::uint32_t set = 0; set < 1U << (pieces - 1); ++set) {
      std::vector<std::size_t> ends;
      for (std::size_t end = 0; end + 1 < pieces; ++end) {
        if ((set >> end & 1U) != 0) ends.push_back(end);
      }
      best[ends.size()] = std::min(best[ends.size()], most_of(cost, ends));
    }
    for (std::size_t stages = 1; stages <= pieces; ++stages) {
      const std::vector<std::size_t> ends = choose(cost, stages);
      ASSERT_EQ(ends.size(), stages - 1);
      EXPECT_TRUE(std::ranges::is_sorted(ends, std::ranges::less_equal{}));
      EXPECT_EQ(most_of(cost, ends), best[stages - 1]) << pieces << " in " << stages;
    }
  }
}

TEST(ChooseEnds, IsTheBestOfAllCuts) { expect_best_of_all_cuts(choose_ends, most_of); }

TEST(ChooseEnds, OfNeighboursIsTheBestOfAllCuts) {
  expect_best_of_all_cuts(choose_ends_of_neighbours, most_of_neighbours);
}

}  // namespace winnow::train::borders_test
