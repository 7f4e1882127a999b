// Features of nets: the values that their classifiers read.
#include "train/rewrites/for_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "common/rng.h"
#include "train/backend/reference/interpret.h"
#include "train/nets/nets.h"
#include "train/ops/linear.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train::for_features_test {

NetOptions options_for(const Net& net) {
  NetOptions options;
  options.batch = 2;
  options.channels = net.name == "lenet" ? 1 : 3;
  options.height_px = options.width_px = net.default_side_px;
  options.classes = 7;
  options.mean.assign(static_cast<std::size_t>(options.channels), 0.5F);
  options.stddev.assign(static_cast<std::size_t>(options.channels), 0.25F);
  return options;
}

TEST(ForFeatures, OfEveryNetAreWhatItsClassifierReads) {
  const std::map<std::string_view, std::int64_t> known = {{"lenet", 500},
                                                          {"resnet20", 64},
                                                          {"resnet18", 512},
                                                          {"resnet50", 2048},
                                                          {"resnext50_32x4d", 2048},
                                                          {"wrn16_4", 256},
                                                          {"vgg16_bn", 4096},
                                                          {"alexnet", 4096},
                                                          {"googlenet_bn", 1024},
                                                          {"densenet121", 1024},
                                                          {"mobilenet_v2", 1280},
                                                          {"mobilenet_v3_large", 1280},
                                                          {"convnext_tiny", 768},
                                                          {"efficientnet_b0", 1280},
                                                          {"regnet_y_400mf", 440},
                                                          {"vit_b_16", 768},
                                                          {"vit_tiny_patch4_32", 192},
                                                          {"airbench94", 256},
                                                          {"resnet9", 512}};
  std::size_t met = 0;
  for (const Net& net : nets()) {
    const NetOptions options = options_for(net);
    const Graph inference = for_inference(fuse(net.make(options)));
    const Graph graph = for_features(inference);
    ASSERT_EQ(graph.outputs.size(), 1U) << net.name;
    EXPECT_EQ(graph.outputs.front().kind, OutputKind::kValue);
    const auto inputs = graph.of_kind(ValueKind::kInput);
    ASSERT_EQ(inputs.size(), 1U) << net.name;
    EXPECT_EQ(graph.value(inputs.front()).name, "pixels");
    // The last weight reads as many values as one of its filters has elements.
    std::int64_t read = 0;
    for (const Value& value : inference.values) {
      if (value.kind == ValueKind::kParameter && value.shape.size() == 2 && value.shape[0] == 7) {
        read = value.shape[1];
      }
    }
    EXPECT_EQ(feature_count(graph), read) << net.name;
    if (const auto row = known.find(net.name); row != known.end()) {
      ++met;
      EXPECT_EQ(feature_count(graph), row->second) << net.name;
    }
    EXPECT_EQ(graph.of_kind(ValueKind::kParameter).size(),
              inference.of_kind(ValueKind::kParameter).size());
  }
  EXPECT_EQ(met, known.size());
}

TEST(ForFeatures, OfNetsThatEndInAnythingElseAreRefused) {
  Graph graph = for_inference(find_net("lenet").make(options_for(find_net("lenet"))));
  std::erase_if(graph.outputs, [](const Output& o) { return o.kind == OutputKind::kLogits; });
  EXPECT_THROW(for_features(graph), Error);
  const ValueId image = graph.nodes.front().outputs.front();
  graph.outputs.push_back({OutputKind::kLogits, image});
  EXPECT_THROW(for_features(graph), Error);
}

}  // namespace winnow::train::for_features_test
