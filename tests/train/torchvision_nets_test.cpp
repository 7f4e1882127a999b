#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "tests/train/net_options.h"

namespace winnow::train::torchvision_nets_test {

using testing::ElementsAre;

// Counts for 1,000 classes and images of 224 x 224, from torchvision's own modules: parameters,
// multiply-adds of convolutions and linear layers, trained tensors.
struct Known {
  const char* net;
  std::int64_t parameters;
  double multiply_adds;
  std::size_t tensors;
};
constexpr Known kKnown[] = {
    {"resnet101", 44549160, 7801405440, 314},       {"resnet152", 60192808, 11513626624, 467},
    {"resnext50_32x4d", 25028904, 4230479872, 161}, {"wide_resnet50_2", 68883240, 11398021120, 161},
    {"vgg11_bn", 132868840, 7609090048, 38},        {"vgg16_bn", 138365992, 15470264320, 58},
    {"alexnet", 61100840, 714188480, 16},           {"alexnet_lrn", 62378344, 1135256096, 16},
    {"googlenet_bn", 6624904, 1498376192, 173},     {"densenet121", 7978856, 2834161664, 364},
    {"mobilenet_v2", 3504872, 300774272, 158},      {"mobilenet_v3_large", 5483032, 216589760, 174},
    {"mobilenet_v3_small", 2542856, 56510400, 142}, {"efficientnet_b0", 5288548, 385814752, 213},
    {"regnet_y_400mf", 4344144, 401842848, 225},    {"convnext_tiny", 28589128, 4455531264, 182},
    {"vit_b_16", 86567656, 17563828224, 152},
};

Graph make(const char* net, int side_px, int classes = 10) {
  return find_net(net).make(square_images(side_px, classes));
}

TEST(TorchvisionNets, HaveItsCounts) {
  for (const Known& known : kKnown) {
    SCOPED_TRACE(known.net);
    const Graph graph = make(known.net, 224, 1000);
    EXPECT_EQ(count(graph).parameters, known.parameters);
    EXPECT_EQ(count(graph).flops, 2 * known.multiply_adds);
    EXPECT_EQ(graph.of_kind(ValueKind::kParameter).size(), known.tensors);
  }
}

// He et al. 2016, table 6, but with projections instead of padding: 2,560 weights and 192 norm
// parameters more.
TEST(CifarResnets, HaveSixLayersABlockAndTwo) {
  EXPECT_EQ(count(make("resnet32", 32)).parameters, 464'154 + 2'752);
  EXPECT_EQ(count(make("resnet44", 32)).parameters, 658'586 + 2'752);
  EXPECT_EQ(count(make("resnet56", 32)).parameters, 853'018 + 2'752);
  EXPECT_EQ(count(make("resnet110", 32)).parameters, 1'727'962 + 2'752);
  const Graph graph = make("resnet32", 32);
  EXPECT_NO_THROW(graph.find("layer3.4.conv2.weight"));
  EXPECT_THROW(graph.find("layer3.5.conv2.weight"), Error);
}

// Zagoruyko and Komodakis 2016, table 4: 2.7 M and 36.5 M.
TEST(WideResnets, HaveTheirPapersSizes) {
  EXPECT_EQ(count(make("wrn16_4", 32)).parameters, 2'748'890);
  EXPECT_EQ(count(make("wrn28_10", 32)).parameters, 36'479'194);
  const Graph graph = make("wrn16_4", 32);
  EXPECT_THAT(graph.value(graph.find("layer1.0.downsample.0.weight")).shape,
              ElementsAre(64, 16, 1, 1));
  EXPECT_THROW(graph.find("layer1.1.downsample.0.weight"), Error);
  EXPECT_THAT(graph.value(graph.find("layer3.0.bn1.weight")).shape, ElementsAre(128));
}

TEST(Resnet9, IsPages) {
  const Graph graph = make("resnet9", 32);
  EXPECT_EQ(count(graph).parameters, 6'573'120);
  EXPECT_THAT(graph.value(graph.find("linear.weight")).shape, ElementsAre(10, 512));
  EXPECT_THROW(graph.find("linear.bias"), Error);
  EXPECT_EQ(count(make("resnet9", 48)).parameters, 6'573'120);
}

// The whitening filters and the scales of six norms are frozen: they are buffers here.
TEST(Airbench94, TrainsShiftsAndConvolutions) {
  const Graph graph = make("airbench94", 32);
  EXPECT_EQ(count(graph).parameters, 24 + 24 * 64 * 9 + 64 * 64 * 9 + 64 * 256 * 9 +
                                         3 * 256 * 256 * 9 + 2 * 64 + 4 * 256 + 2560);
  EXPECT_EQ(graph.value(graph.find("0.weight")).kind, ValueKind::kBuffer);
  EXPECT_THAT(graph.value(graph.find("0.weight")).shape, ElementsAre(24, 3, 2, 2));
  EXPECT_EQ(graph.value(graph.find("4.norm2.weight")).kind, ValueKind::kBuffer);
  EXPECT_EQ(graph.value(graph.find("4.norm2.bias")).kind, ValueKind::kParameter);
  for (const Output& output : graph.outputs) {
    if (output.kind == OutputKind::kMean || output.kind == OutputKind::kVariance) {
      EXPECT_EQ(output.momentum, 0.4);
    }
  }
  EXPECT_NO_THROW(make("airbench94", 9));
  EXPECT_THROW(make("airbench94", 8), ShapeError);
}

// ResNet-50 without the norms behind the projections and the stem, and with norms of other widths.
TEST(Resnet50v2, HasNormsBeforeConvolutions) {
  const Graph graph = make("resnet50v2", 224, 1000);
  EXPECT_EQ(count(graph).parameters, 25'549'352);
  EXPECT_THAT(graph.value(graph.find("layer1.0.bn1.weight")).shape, ElementsAre(64));
  EXPECT_THAT(graph.value(graph.find("layer2.0.bn1.weight")).shape, ElementsAre(256));
  EXPECT_THAT(graph.value(graph.find("norm.running_var")).shape, ElementsAre(2048));
  EXPECT_THROW(graph.find("layer1.0.downsample.1.weight"), Error);
}

TEST(AlexnetBn, HasThePapersWidths) {
  const Graph graph = make("alexnet_bn", 224, 1000);
  EXPECT_EQ(count(graph).parameters, 62'379'720);
  EXPECT_THAT(graph.value(graph.find("features.4.weight")).shape, ElementsAre(256, 96, 5, 5));
  EXPECT_THAT(graph.value(graph.find("classifier.1.weight")).shape, ElementsAre(4096, 9216));
}

// Width 192, depth 12: a block has 12 * 192 * 192 weights and 13 * 192 biases, norms included.
TEST(VitTiny, HasDeitsWidthAndDepth) {
  const Graph graph = make("vit_tiny_patch4_32", 32, 100);
  EXPECT_EQ(count(graph).parameters,
            12 * (12 * 192 * 192 + 13 * 192) + 192 * (48 + 1 + 1 + 65 + 2) + 100 * 193);
  EXPECT_THAT(graph.value(graph.find("conv_proj.weight")).shape, ElementsAre(192, 3, 4, 4));
  EXPECT_THAT(graph.value(graph.find("encoder.pos_embedding")).shape, ElementsAre(1, 65, 192));
  EXPECT_THAT(graph.value(graph.find("class_token")).shape, ElementsAre(1, 1, 192));
  EXPECT_NO_THROW(graph.find("encoder.layers.encoder_layer_11.self_attention.in_proj_weight"));
  EXPECT_THROW(graph.find("encoder.layers.encoder_layer_12.ln_1.weight"), Error);
}

TEST(Vit, RefusesImagesThatAreNoPatches) {
  const Graph wide = make("vit_tiny_patch4_32", 64);
  EXPECT_THAT(wide.value(wide.find("encoder.pos_embedding")).shape, ElementsAre(1, 257, 192));
  for (const auto& [height, width] : {std::pair(30, 32), {32, 30}, {3, 3}}) {
    NetOptions options = square_images(height);
    options.width_px = width;
    EXPECT_THAT([&] { find_net("vit_tiny_patch4_32").make(options); },
                testing::ThrowsMessage<ShapeError>(
                    testing::HasSubstr("choose a multiple of 4 by --image-size")));
  }
}

// Nets for large images accept small ones: their linear layers shrink with the feature map.
TEST(AdaptivePool, LeavesSmallMapsAndRefusesUnevenWindows) {
  const Graph small = make("vgg11_bn", 32);
  EXPECT_THAT(small.value(small.find("classifier.0.weight")).shape, ElementsAre(4096, 512));
  const Graph usual = make("vgg11_bn", 224);
  EXPECT_THAT(usual.value(usual.find("classifier.0.weight")).shape, ElementsAre(4096, 25088));
  for (const int side : {256, 448}) {
    const Graph graph = make("vgg11_bn", side);
    EXPECT_THAT(graph.value(graph.find("classifier.0.weight")).shape, ElementsAre(4096, 25088));
  }
  EXPECT_THROW(make("vgg11_bn", 288), ShapeError);
}

TEST(Nets, StartAsTorchvisions) {
  const auto init = [](const char* net, const char* tensor) {
    const Graph graph = make(net, 64);
    return graph.value(graph.find(tensor)).init;
  };
  EXPECT_EQ(init("vgg11_bn", "features.0.weight"), Init::kKaimingFanOut);
  EXPECT_EQ(init("vgg11_bn", "features.0.bias"), Init::kZeros);
  EXPECT_EQ(init("vgg11_bn", "classifier.0.weight"), Init::kNormal001);
  EXPECT_EQ(init("alexnet", "features.0.weight"), Init::kUniformFanIn);
  EXPECT_EQ(init("densenet121", "features.conv0.weight"), Init::kKaimingFanIn);
  EXPECT_EQ(init("densenet121", "classifier.bias"), Init::kZeros);
  EXPECT_EQ(init("googlenet_bn", "conv1.conv.weight"), Init::kNormal001);
  EXPECT_EQ(init("mobilenet_v2", "classifier.1.weight"), Init::kNormal001);
  EXPECT_EQ(init("mobilenet_v3_small", "features.1.block.1.fc1.bias"), Init::kZeros);
  EXPECT_EQ(init("efficientnet_b0", "classifier.1.weight"), Init::kUniformFanOut);
  EXPECT_EQ(init("regnet_y_400mf", "fc.weight"), Init::kNormal001);
  EXPECT_EQ(init("regnet_y_400mf", "trunk_output.block1.block1-0.f.se.fc1.bias"),
            Init::kUniformFanIn);
  EXPECT_EQ(init("convnext_tiny", "features.1.0.block.3.weight"), Init::kNormal002);
  EXPECT_EQ(init("convnext_tiny", "features.1.0.layer_scale"), Init::kMillionth);
  EXPECT_EQ(init("vit_b_16", "conv_proj.weight"), Init::kLecunNormal);
  EXPECT_EQ(init("vit_b_16", "class_token"), Init::kZeros);
  EXPECT_EQ(init("vit_b_16", "encoder.pos_embedding"), Init::kNormal002);
  EXPECT_EQ(init("vit_b_16", "encoder.layers.encoder_layer_0.mlp.3.weight"), Init::kXavierUniform);
  EXPECT_EQ(init("vit_b_16", "encoder.layers.encoder_layer_0.mlp.3.bias"), Init::kNormal1e6);
  EXPECT_EQ(init("vit_b_16", "heads.head.weight"), Init::kZeros);
}

}  // namespace winnow::train::torchvision_nets_test
