#include "train/nets/nets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "train/ops/batch_norm.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train::nets_test {

using testing::ElementsAre;
using testing::HasSubstr;

NetOptions options(std::int64_t batch, int channels, int side_px) {
  NetOptions made;
  made.batch = batch;
  made.channels = channels;
  made.height_px = side_px;
  made.width_px = side_px;
  made.mean.assign(static_cast<std::size_t>(channels), 0.5F);
  made.stddev.assign(static_cast<std::size_t>(channels), 0.25F);
  return made;
}

std::vector<std::string> names(const Graph& graph, ValueKind kind) {
  std::vector<std::string> found;
  for (const ValueId id : graph.of_kind(kind)) found.push_back(graph.value(id).name);
  return found;
}

TEST(Nets, AreFoundByName) {
  for (const Net& net : nets()) EXPECT_EQ(find_net(net.name).make, net.make);
  EXPECT_THAT([] { find_net("resnet"); },
              testing::ThrowsMessage<UsageError>(HasSubstr("winnow train --net ?")));
}

TEST(Nets, HaveTheInputsAndOutputsThatAreBound) {
  for (const Net& net : nets()) {
    SCOPED_TRACE(net.name);
    const Graph graph = net.make(options(4, 3, net.default_side_px));
    EXPECT_EQ(graph.value(graph.find("pixels")).storage, Storage::kU8);
    EXPECT_THAT(graph.value(graph.find("pixels")).shape,
                ElementsAre(4, 3, net.default_side_px, net.default_side_px));
    EXPECT_THAT(graph.value(graph.find("targets")).shape, ElementsAre(4, 10));
    EXPECT_THAT(graph.value(graph.find("weights")).shape, ElementsAre(4));
    std::map<OutputKind, int> kinds;
    std::size_t norms = 0;
    for (const Output& output : graph.outputs) ++kinds[output.kind];
    for (const Node& node : graph.nodes) norms += node.op == &kBatchNorm ? 1 : 0;
    EXPECT_EQ(kinds[OutputKind::kLoss], 1);
    EXPECT_EQ(kinds[OutputKind::kPerSampleLoss], 1);
    EXPECT_EQ(kinds[OutputKind::kLogits], 1);
    EXPECT_EQ(kinds[OutputKind::kMean], static_cast<int>(norms));
    EXPECT_EQ(kinds[OutputKind::kVariance], static_cast<int>(norms));
  }
}

TEST(Nets, NameEveryValueOnce) {
  for (const Net& net : nets()) {
    const Graph graph = differentiate(fuse(net.make(options(2, 3, net.default_side_px))));
    std::set<std::string> seen;
    for (const Value& value : graph.values) {
      EXPECT_TRUE(seen.insert(value.name).second) << net.name << " has two " << value.name;
    }
  }
}

TEST(Nets, DecayWeightsButNotNormsAndBiases) {
  for (const Net& net : nets()) {
    const Graph graph = net.make(options(1, 3, net.default_side_px));
    for (const ValueId id : graph.of_kind(ValueKind::kParameter)) {
      EXPECT_EQ(graph.value(id).decay, graph.value(id).shape.size() > 1) << graph.value(id).name;
    }
  }
}

TEST(Lenet, IsCaffes) {
  const Graph graph = find_net("lenet").make(options(2, 1, 28));
  EXPECT_EQ(count(graph).parameters, 431'080);
  EXPECT_THAT(names(graph, ValueKind::kParameter),
              ElementsAre("conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias", "fc1.weight",
                          "fc1.bias", "fc2.weight", "fc2.bias"));
  EXPECT_THAT(graph.value(graph.find("fc1.weight")).shape, ElementsAre(500, 800));
}

TEST(Lenet, TakesImagesFrom16Pixels) {
  EXPECT_NO_THROW(find_net("lenet").make(options(1, 3, 16)));
  EXPECT_THROW(find_net("lenet").make(options(1, 3, 15)), ShapeError);
  for (const Net& net : nets()) {
    EXPECT_THROW(net.make(options(std::int64_t{1} << 60, 3, 32)), UsageError) << net.name;
    EXPECT_THROW(net.make(options(1 << 20, 3, 1 << 14)), UsageError) << net.name;
  }
}

// Library kernels divide by numbers that they derive from the sides.
TEST(Nets, TakeNoImagesOfSidesThatNobodyHas) {
  for (const int side : {-65536, -1, 0, 16385, 65536, std::numeric_limits<int>::max()}) {
    for (const auto& [height, width] : {std::pair(side, 32), {32, side}, {side, side}}) {
      NetOptions o = options(1, 3, 32);
      o.height_px = height;
      o.width_px = width;
      EXPECT_THAT([&] { check_ranges(o); },
                  testing::ThrowsMessage<UsageError>(HasSubstr("sides from 1 to 16384, not ")))
          << height << " x " << width;
    }
  }
  EXPECT_NO_THROW(check_ranges(options(1, 3, 16384)));
}

TEST(Resnet20, IsHesWithProjections) {
  const Graph graph = find_net("resnet20").make(options(2, 3, 32));
  // The net without projections has 269,722. The two projections add 16*32 + 32*64 weights and 2*32
  // + 2*64 norm parameters.
  EXPECT_EQ(count(graph).parameters, 269'722 + 2'560 + 192);
  // Multiply-adds of a 32 x 32 image: the stem, three stages, two projections, the last layer.
  const double macs = 442'368 + 14'155'776 + 2 * (1'179'648 + 11'796'480) + 2 * 131'072 + 640;
  EXPECT_EQ(count(graph).flops, 2 * 2 * macs);
  // The backward pass costs twice the forward pass, less the gradient of the pixels.
  EXPECT_EQ(count(differentiate(graph)).flops, 3 * 2 * 2 * macs - 2 * 2 * 442'368);
}

TEST(Resnet20, NamesLayersAsTorchvision) {
  const Graph graph = find_net("resnet20").make(options(2, 3, 32));
  auto parameters = names(graph, ValueKind::kParameter);
  EXPECT_EQ(parameters.size(), 21U + 42U + 2U);
  parameters.resize(9);
  EXPECT_THAT(parameters,
              ElementsAre("conv1.weight", "bn1.weight", "bn1.bias", "layer1.0.conv1.weight",
                          "layer1.0.bn1.weight", "layer1.0.bn1.bias", "layer1.0.conv2.weight",
                          "layer1.0.bn2.weight", "layer1.0.bn2.bias"));
  EXPECT_THAT(graph.value(graph.find("layer2.0.downsample.0.weight")).shape,
              ElementsAre(32, 16, 1, 1));
  EXPECT_THAT(graph.value(graph.find("layer3.0.downsample.1.running_var")).shape, ElementsAre(64));
  EXPECT_THAT(graph.value(graph.find("fc.weight")).shape, ElementsAre(10, 64));
  EXPECT_THROW(graph.find("layer1.0.downsample.0.weight"), Error);
  for (const Output& output : graph.outputs) {
    if (output.kind == OutputKind::kVariance &&
        graph.value(output.of).name == "layer2.1.bn1.running_var") {
      EXPECT_EQ(output.count, 2 * 16 * 16);
    }
  }
}

TEST(Resnet20, TakesSmallAndOblongImages) {
  NetOptions oblong = options(1, 1, 9);
  oblong.width_px = 21;
  const Graph graph = find_net("resnet20").make(oblong);
  EXPECT_EQ(count(graph).parameters, 272'474 - 2 * 16 * 9);
}

TEST(Resnet50, IsTorchvisions) {
  NetOptions imagenet = options(1, 3, 224);
  imagenet.classes = 1000;
  const Graph graph = find_net("resnet50").make(imagenet);
  EXPECT_EQ(count(graph).parameters, 25'557'032);
  EXPECT_EQ(count(graph).flops, 2 * 4'089'184'256.0);
  const auto parameters = names(graph, ValueKind::kParameter);
  EXPECT_EQ(parameters.size(), 161U);
  EXPECT_THAT(graph.value(graph.find("layer2.0.conv2.weight")).shape, ElementsAre(128, 128, 3, 3));
  EXPECT_THAT(graph.value(graph.find("layer4.2.conv3.weight")).shape, ElementsAre(2048, 512, 1, 1));
  EXPECT_THAT(graph.value(graph.find("layer1.0.downsample.0.weight")).shape,
              ElementsAre(256, 64, 1, 1));
  EXPECT_THAT(graph.value(graph.find("layer4.0.downsample.1.running_var")).shape,
              ElementsAre(2048));
  EXPECT_THROW(graph.find("layer1.1.downsample.0.weight"), Error);
}

Value parameter(const char* name, Shape shape, Init init, std::int64_t fan_in = 0) {
  Value value;
  value.name = name;
  value.shape = std::move(shape);
  value.kind = ValueKind::kParameter;
  value.init = init;
  value.fan_in = fan_in;
  return value;
}

struct Moments {
  double mean = 0, variance = 0, kurtosis = 0, smallest = 0, largest = 0;
};
Moments moments(const std::vector<float>& numbers) {
  Moments m;
  const auto n = static_cast<double>(numbers.size());
  for (const float x : numbers) m.mean += x / n;
  double fourth = 0;
  for (const float x : numbers) {
    m.variance += std::pow(x - m.mean, 2) / n;
    fourth += std::pow(x - m.mean, 4) / n;
    m.smallest = std::min<double>(m.smallest, x);
    m.largest = std::max<double>(m.largest, x);
  }
  m.kurtosis = fourth / (m.variance * m.variance);
  return m;
}

TEST(InitialValue, KaimingIsNormalWithTheVarianceOfTheFanOut) {
  const auto numbers = initial_value(parameter("w", {64, 32, 3, 3}, Init::kKaimingFanOut), 5);
  const Moments m = moments(numbers);
  const double variance = 2.0 / (64 * 3 * 3);
  // Five standard errors of the sample mean, variance, kurtosis and correlation of neighbours.
  const double n = static_cast<double>(numbers.size());
  EXPECT_NEAR(m.mean, 0, 5 * std::sqrt(variance / n));
  EXPECT_NEAR(m.variance, variance, 5 * variance * std::sqrt(2 / n));
  EXPECT_NEAR(m.kurtosis, 3, 5 * std::sqrt(24 / n));
  double neighbours = 0;
  for (std::size_t i = 1; i < numbers.size(); ++i) neighbours += numbers[i] * numbers[i - 1];
  EXPECT_NEAR(neighbours / (n * variance), 0, 5 / std::sqrt(n));
}

TEST(InitialValue, UniformFillsTheIntervalOfTheFanIn) {
  const auto numbers = initial_value(parameter("w", {40, 500}, Init::kUniformFanIn, 500), 5);
  const Moments m = moments(numbers);
  const double bound = 1 / std::sqrt(500.0);
  const double n = static_cast<double>(numbers.size());
  EXPECT_NEAR(m.mean, 0, 5 * bound / std::sqrt(3 * n));
  EXPECT_LE(m.largest, bound);
  EXPECT_GE(m.smallest, -bound);
  EXPECT_NEAR(m.largest, bound, bound / 500);
  EXPECT_NEAR(m.smallest, -bound, bound / 500);
}

TEST(InitialValue, NormalNumbersHaveTheirDeviation) {
  const auto deviation = [](Init init, std::int64_t fan_in = 0) {
    const auto numbers = initial_value(parameter("w", {64, 32, 3, 3}, init, fan_in), 5);
    return std::sqrt(moments(numbers).variance);
  };
  EXPECT_NEAR(deviation(Init::kNormal001), 0.01, 2e-4);
  EXPECT_NEAR(deviation(Init::kNormal002), 0.02, 4e-4);
  EXPECT_NEAR(deviation(Init::kKaimingFanIn, 288), std::sqrt(2.0 / 288), 2e-3);
  EXPECT_NEAR(deviation(Init::kLecunNormal, 288), std::sqrt(1.0 / 288), 2e-3);
  EXPECT_NEAR(deviation(Init::kNormal1e6), 1e-6, 2e-8);
}

TEST(InitialValue, FanOutBoundsTheLastLayerOfEfficientNets) {
  const Moments m = moments(initial_value(parameter("w", {100, 500}, Init::kUniformFanOut), 5));
  EXPECT_NEAR(m.largest, 0.1, 1e-3);
  EXPECT_NEAR(m.smallest, -0.1, 1e-3);
}

TEST(InitialValue, XavierIsUniformByBothFans) {
  const Moments m =
      moments(initial_value(parameter("w", {300, 500}, Init::kXavierUniform, 500), 5));
  const double bound = std::sqrt(6.0 / 800);
  EXPECT_NEAR(m.largest, bound, bound / 500);
  EXPECT_NEAR(m.smallest, -bound, bound / 500);
}

// torch.nn.init.dirac_(w[:w.size(1)])
TEST(InitialValue, DiracCopiesChannelsByTheFirstFilters) {
  const auto wide = initial_value(parameter("w", {5, 2, 3, 3}, Init::kDirac, 18), 5);
  const auto uniform = initial_value(parameter("w", {5, 2, 3, 3}, Init::kUniformFanIn, 18), 5);
  for (std::size_t i = 0; i < wide.size(); ++i) {
    const bool copied = i < 36;
    const bool centre = i == 4 || i == 18 + 9 + 4;
    EXPECT_EQ(wide[i], copied ? (centre ? 1 : 0) : uniform[i]) << i;
  }
  const auto narrow = initial_value(parameter("w", {1, 2, 3, 3}, Init::kDirac, 18), 5);
  EXPECT_EQ(std::accumulate(narrow.begin(), narrow.end(), 0.0F), 1);
  EXPECT_EQ(narrow[4], 1);
}

TEST(InitialValue, DependsOnSeedAndNameOnly) {
  const Value w = parameter("layer1.0.conv1.weight", {3, 3, 3, 3}, Init::kKaimingFanOut);
  Value renamed = w;
  renamed.name = "layer1.0.conv2.weight";
  Value smaller = w;
  smaller.shape = {3, 1, 3, 3};
  EXPECT_EQ(initial_value(w, 7), initial_value(w, 7));
  EXPECT_NE(initial_value(w, 7), initial_value(w, 8));
  EXPECT_NE(initial_value(w, 7), initial_value(renamed, 7));
  auto start = initial_value(w, 7);
  start.resize(27);
  EXPECT_EQ(start, initial_value(smaller, 7));  // the same random stream, the same fan-out
}

TEST(InitialValue, OnesAndZeros) {
  EXPECT_THAT(initial_value(parameter("a", {3}, Init::kOnes), 1), ElementsAre(1, 1, 1));
  EXPECT_THAT(initial_value(parameter("a", {3}, Init::kZeros), 1), ElementsAre(0, 0, 0));
  EXPECT_THAT(initial_value(parameter("a", {2}, Init::kMillionth), 1), ElementsAre(1e-6F, 1e-6F));
}

}  // namespace winnow::train::nets_test
