#include "train/nets/resnet18.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/train/net_options.h"

namespace winnow::train::resnet18_test {

using testing::ElementsAre;

std::vector<std::string> parameters(const Graph& graph) {
  std::vector<std::string> names;
  for (const ValueId id : graph.of_kind(ValueKind::kParameter)) {
    names.push_back(graph.value(id).name);
  }
  return names;
}

// Parameters and multiply-adds are those of torchvision.

TEST(Resnet18, IsTorchvisions) {
  const Graph graph = make_resnet18(square_images(224, 1000));
  EXPECT_EQ(count(graph).parameters, 11'689'512);
  EXPECT_EQ(count(graph).flops, 2 * 1'814'073'344.0);
  auto names = parameters(graph);
  EXPECT_EQ(names.size(), 62U);
  names.resize(9);
  EXPECT_THAT(names,
              ElementsAre("conv1.weight", "bn1.weight", "bn1.bias", "layer1.0.conv1.weight",
                          "layer1.0.bn1.weight", "layer1.0.bn1.bias", "layer1.0.conv2.weight",
                          "layer1.0.bn2.weight", "layer1.0.bn2.bias"));
  EXPECT_THAT(graph.value(graph.find("conv1.weight")).shape, ElementsAre(64, 3, 7, 7));
  EXPECT_THAT(graph.value(graph.find("layer2.0.downsample.0.weight")).shape,
              ElementsAre(128, 64, 1, 1));
  EXPECT_THAT(graph.value(graph.find("layer4.1.conv2.weight")).shape, ElementsAre(512, 512, 3, 3));
  EXPECT_THAT(graph.value(graph.find("fc.weight")).shape, ElementsAre(1000, 512));
  EXPECT_THROW(graph.find("layer1.0.downsample.0.weight"), Error);
  EXPECT_THROW(graph.find("layer1.2.conv1.weight"), Error);
}

TEST(Resnet34, IsTorchvisions) {
  const Graph graph = make_resnet34(square_images(224, 1000));
  EXPECT_EQ(count(graph).parameters, 21'797'672);
  EXPECT_EQ(count(graph).flops, 2 * 3'663'761'408.0);
  EXPECT_EQ(parameters(graph).size(), 110U);
  EXPECT_THAT(graph.value(graph.find("layer3.5.conv2.weight")).shape, ElementsAre(256, 256, 3, 3));
  EXPECT_THROW(graph.find("layer3.6.conv1.weight"), Error);
}

TEST(Resnet18, StartsAsTorchvisions) {
  const Graph graph = make_resnet18(square_images(64, 1000));
  for (const ValueId id : graph.of_kind(ValueKind::kParameter)) {
    const Value& value = graph.value(id);
    const bool is_norm = value.name.find("bn") != std::string::npos ||
                         value.name.find("downsample.1") != std::string::npos;
    const bool is_weight = value.name.ends_with(".weight");
    const Init norm = is_weight ? Init::kOnes : Init::kZeros;
    const Init product = value.name.starts_with("fc.") ? Init::kUniformFanIn : Init::kKaimingFanOut;
    EXPECT_EQ(value.init, is_norm ? norm : product) << value.name;
  }
}

}  // namespace winnow::train::resnet18_test
