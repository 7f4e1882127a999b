// Nets described by files: the same graphs as those of the table, and descriptions that are
// refused.

#include "train/nets/net_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "common/file.h"
#include "places.h"
#include "tests/train/learner.h"
#include "tests/train/net_options.h"
#include "train/backend/backend.h"

namespace winnow::train::net_file_test {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const fs::path kExamples = WINNOW_NETS;

NetChoice example(const std::string& net) {
  return read_net_file((kExamples / (net + ".toml")).string());
}

// To_text() covers operations, attributes, shapes and parameters. The rest decides the initial
// values and which of them are decayed.
void expect_equal(const Graph& described, const Graph& built) {
  EXPECT_EQ(to_text(described), to_text(built));
  ASSERT_EQ(described.values.size(), built.values.size());
  for (std::size_t i = 0; i < built.values.size(); ++i) {
    const Value& a = described.values[i];
    const Value& b = built.values[i];
    if (b.kind == ValueKind::kComputed) continue;
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.shape, b.shape);
    EXPECT_EQ(a.init, b.init) << b.name;
    EXPECT_EQ(a.fan_in, b.fan_in) << b.name;
    EXPECT_EQ(a.decay, b.decay) << b.name;
  }
  EXPECT_EQ(count(described).parameters, count(built).parameters);
  EXPECT_EQ(count(described).flops, count(built).flops);
}

class Example : public testing::TestWithParam<const char*> {};

TEST_P(Example, IsTheNetOfTheTable) {
  const Net& built = find_net(GetParam());
  const NetChoice described = example(GetParam());
  EXPECT_EQ(default_side_px(described), built.default_side_px);
  for (const int side : {built.default_side_px, 32}) {
    const NetOptions options = square_images(side, 100);
    expect_equal(make_net(described, options), built.make(options));
  }
}

// Parameters, momentum and running statistics, after a step from the same seed.
TEST_P(Example, TakesTheSameStep) {
  NetOptions options = square_images(32, 3);
  options.batch = 2;
  const auto stepped = [&](const Graph& forward) {
    const Graph graph = prune(differentiate(fuse(forward)));
    const MakeBackend make = [] { return make_backend("onednn", {}); };
    Learner learner(graph, cut_into({1}, 1 << 20), make);
    pipeline::Batch batch = random_batch(graph, 2);
    learner.step(batch);
    learner.weights->store();
    return std::move(learner.model);
  };
  const Model described = stepped(make_net(example(GetParam()), options));
  const Model built = stepped(find_net(GetParam()).make(options));
  ASSERT_EQ(described.tensors.size(), built.tensors.size());
  for (std::size_t i = 0; i < built.tensors.size(); ++i) {
    EXPECT_EQ(described.tensors[i].data, built.tensors[i].data) << i;
    EXPECT_EQ(described.tensors[i].state, built.tensors[i].state) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(NetFile, Example,
                         testing::Values("resnet20", "resnet50", "mobilenet_v2", "convnext_tiny"),
                         [](const auto& row) { return std::string(row.param); });

// A net of these stages and a linear layer.
std::string net_of(const std::string& stages) {
  return "stages = [\n" + stages + "\n]\nhead = [{block = \"linear\"}]\n";
}

Graph graph_of(const std::string& text, int side_px = 32) {
  return make_net(parse_net(text, "my.toml"), square_images(side_px));
}

std::vector<std::string> parameters_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const ValueId id : graph.of_kind(ValueKind::kParameter)) {
    names.push_back(graph.value(id).name);
  }
  return names;
}

std::string refusal_of(const std::string& text) {
  try {
    graph_of(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(NetFile, NamesTensorsByTheirPlaceUnlessToldOtherwise) {
  EXPECT_THAT(parameters_of(graph_of("stem = [{block = \"conv\", width = 4}]\n" +
                                     net_of(R"({block = "conv_bn_relu", width = 4},
                                               {block = "preactivation", width = 4, depth = 2},
                                               {block = "conv", width = 2, name = "a.#"},
                                               {block = "mbconv", width = 2, name = "a.#"})"))),
              ElementsAre("stem.0.weight",                                              //
                          "stages.0.0.weight", "stages.0.1.weight", "stages.0.1.bias",  //
                          "stages.1.0.bn1.weight", "stages.1.0.bn1.bias", "stages.1.0.conv1.weight",
                          "stages.1.0.bn2.weight", "stages.1.0.bn2.bias", "stages.1.0.conv2.weight",
                          "stages.1.1.bn1.weight", "stages.1.1.bn1.bias", "stages.1.1.conv1.weight",
                          "stages.1.1.bn2.weight", "stages.1.1.bn2.bias", "stages.1.1.conv2.weight",
                          "a.0.weight",  //
                          "a.1.block.0.0.weight", "a.1.block.0.1.weight", "a.1.block.0.1.bias",
                          "a.1.block.1.0.weight", "a.1.block.1.1.weight", "a.1.block.1.1.bias",
                          "a.1.block.2.fc1.weight", "a.1.block.2.fc1.bias",
                          "a.1.block.2.fc2.weight", "a.1.block.2.fc2.bias", "a.1.block.3.0.weight",
                          "a.1.block.3.1.weight", "a.1.block.3.1.bias",  //
                          "head.0.weight", "head.0.bias"));
}

TEST(NetFile, StridesInTheFirstBlockOfAStage) {
  const Graph graph = graph_of(net_of(R"({block = "basic", width = 8, depth = 3, stride = 2})"));
  EXPECT_THAT(graph.value(graph.find("head.0.weight")).shape, ElementsAre(10, 8 * 16 * 16));
}

// The first block of resnext50_32x4d, a block of EfficientNet, and pools.
TEST(NetFile, TakesTheKeysOfItsBlocks) {
  const Graph graph = graph_of(net_of(
      R"({block = "bottleneck", width = 64, inner_width = 128, groups = 32, name = "b"},
         {block = "mbconv", width = 24, expand = 2.5, squeeze_excite = 0.125, kernel = 5, name = "m"},
         {block = "avg_pool", kernel = 4},
         {block = "conv", width = 6, kernel = 1, bias = true, init = "uniform_fan_in", name = "c"})"));
  EXPECT_THAT(graph.value(graph.find("b.conv2.weight")).shape, ElementsAre(128, 4, 3, 3));
  EXPECT_THAT(graph.value(graph.find("m.block.1.0.weight")).shape, ElementsAre(640, 1, 5, 5));
  EXPECT_THAT(graph.value(graph.find("m.block.2.fc1.weight")).shape, ElementsAre(32, 640, 1, 1));
  EXPECT_EQ(graph.value(graph.find("c.bias")).init, Init::kUniformFanIn);
  EXPECT_THAT(graph.value(graph.find("head.0.weight")).shape, ElementsAre(10, 6 * 8 * 8));
}

TEST(NetFile, DropsPathsMoreAndMore) {
  const std::string text = to_text(graph_of(
      "drop_path = 0.75\nstem = [{block = \"conv\", width = 4}]\n" +
      net_of(R"({block = "mbconv", width = 4, depth = 2}, {block = "convnext", depth = 2})")));
  EXPECT_THAT(text,
              AllOf(HasSubstr("rate=0.25 "), HasSubstr("rate=0.5 "), HasSubstr("rate=0.75 ")));
}

struct Mistake {
  std::string text;
  std::string start;
  std::string part;
};

TEST(NetFile, SaysWhatIsWrongAndWhere) {
  const std::string conv = R"({block = "conv", width = 4})";
  const Mistake mistakes[] = {
      {net_of("{block = \"botleneck\", width = 8}"),
       "my.toml:2: unknown block 'botleneck'; known are conv,", "bottleneck"},
      {net_of(conv + ",\n{block = \"basic\", wide = 8}"),
       "my.toml:3: unknown key of basic 'wide'; known are block, name, depth, width, stride", ""},
      {net_of("{block = \"conv\", width = 4, depth = 2}"), "my.toml:2: unknown key of conv 'depth'",
       ""},
      {net_of("{block = \"conv\"}"), "my.toml:2: conv lacks the key width", ""},
      {net_of("{width = 8}"), "my.toml:2: a block lacks the key 'block'", ""},
      {net_of("8"), "my.toml:2: a block must be a table", ""},
      {net_of("{block = \"conv\", width = 65537}"),
       "my.toml:2: width must be a whole number from 1 to 65536", ""},
      {net_of("{block = \"conv\", width = 4.5}"), "my.toml:2: width must be a whole number", ""},
      {net_of("{block = \"conv\", width = \"4\"}"), "my.toml:2: width must be a whole number", ""},
      {net_of("{block = \"mbconv\", width = 4, expand = nan}"),
       "my.toml:2: expand must be a number", ""},
      {net_of("{block = \"conv\", width = 4, bias = 1}"), "my.toml:2: bias must be true or false",
       ""},
      {net_of("{block = \"conv\", width = 4, init = \"ones\"}"),
       "my.toml:2: unknown init 'ones'; known are kaiming_fan_out", ""},
      {net_of("{block = \"conv\", width = 4, name = \"a/b\"}"), "my.toml:2: a name has", ""},
      {net_of("{block = \"conv\", width = 4, name = \"a.##\"}"), "my.toml:2: a name has", ""},
      {net_of("{block = \"linear\"}"), "my.toml:2: linear needs a width", ""},
      {net_of("{block = \"linear\", width = 4}, " + conv),
       "my.toml:2: conv needs an image as input", ""},
      {net_of("{block = \"linear\", width = 4}, {block = \"global_avg_pool\"}"),
       "my.toml:2: global_avg_pool needs an image", ""},
      {net_of("{block = \"max_pool\", kernel = 40}"),
       "my.toml:2: max_pool 'stages.0': a kernel of 40 does not fit", ""},
      {net_of("{block = \"conv\", width = 4, groups = 2}"), "my.toml:2: ", "groups"},
      {net_of("{block = \"conv\", width = 4, name = \"a\"},\n{block = \"conv\", width = 4, name = "
              "\"a\"}"),
       "my.toml:3: an earlier block already has a tensor 'a.weight'", ""},
      {net_of("{block = \"basic\", width = 4, depth = 600},\n{block = \"basic\", width = 4, depth "
              "= 401}"),
       "my.toml:3: up to here the net has more than 1000 blocks", ""},
      {net_of("{block = \"conv\", width = 65536, kernel = 1},\n{block = \"conv\", width = 16384, "
              "kernel = 1}"),
       "my.toml:3: the net has more than 1073741824 parameters", ""},
      {"stages = 3\n", "my.toml:1: stages must be a list of blocks", ""},
      {"\nstage = []\n",
       "my.toml:2: unknown key 'stage'; known are image_size, drop_path, stem, stages, head", ""},
      {"image_size = 0\n", "my.toml:1: image_size must be a whole number from 1 to 16384", ""},
      {"drop_path = 1.0\n", "my.toml:1: drop_path must be a number from 0 to 0.9", ""},
      {"stages = [{block = \"conv\", width = 4}]\n", "my.toml:1: the last block must be linear",
       ""},
      {"head = [{block = \"linear\", width = 10}]\n", "my.toml:1: the last block must be linear",
       ""},
      {"image_size = 32\nimage_size = 33\n", "my.toml:2: not valid TOML: ", ""},
      {"head = [", "my.toml:1: not valid TOML: ", ""},
      {"", "my.toml describes no net", ""},
      {std::string(70000, '#'), "my.toml has more than 65536 bytes", ""},
  };
  for (const Mistake& mistake : mistakes) {
    EXPECT_THAT(refusal_of(mistake.text),
                AllOf(StartsWith(mistake.start), HasSubstr(mistake.part)));
  }
}

TEST(NetFile, AnEntryMayBeATableOfItsOwn) {
  EXPECT_THAT(parameters_of(graph_of("[[stages]]\nblock = \"conv\"\nwidth = 4\n\n[[head]]\nblock = "
                                     "\"linear\"\n")),
              ElementsAre("stages.0.weight", "head.0.weight", "head.0.bias"));
  EXPECT_THAT(refusal_of("[[stages]]\nblock = \"conv\"\nwidth = 0\n"),
              StartsWith("my.toml:3: width"));
}

TEST(NetFile, IsKnownByItsName) {
  EXPECT_TRUE(is_net_file("nets/my.toml"));
  EXPECT_FALSE(is_net_file("resnet20"));
  EXPECT_EQ(example("resnet20").name, "resnet20");
  EXPECT_THROW(read_net_file("/nowhere/my.toml"), UsageError);
  EXPECT_EQ(default_side_px({.name = "lenet"}), 28);
}

}  // namespace winnow::train::net_file_test
