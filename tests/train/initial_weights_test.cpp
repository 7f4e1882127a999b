// Initial weights from a file, and learning-rate multipliers by name. PyTorch's own files are read
// in tests/train/pytorch.

#include "train/model/initial_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "common/error.h"
#include "common/file.h"
#include "tests/common/temporary_folder.h"
#include "train/model/class_names.h"
#include "train/model/state_dict.h"
#include "train/nets/builder.h"
#include "train/ops/tokens.h"

namespace winnow::train::initial_weights_test {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

Graph small_net(int classes) {
  NetBuilder net({.batch = 2,
                  .channels = 1,
                  .height_px = 2,
                  .width_px = 2,
                  .classes = classes,
                  .mean = {0.5F},
                  .stddev = {0.25F},
                  .loss = {}});
  ValueId x = net.batch_norm("bn1", net.conv("conv1", net.image(), {.filters = 2}));
  x = net.linear("fc", net.global_average_pool("avgpool", x), classes);
  return std::move(net).finish(x);
}

class InitialWeightsTest : public testing::Test {
 protected:
  InitialWeights load(Model& model, const Graph& graph, const std::vector<NamedTensor>& tensors) {
    write_file_durably(file_, to_safetensors(tensors, {}));
    return load_initial_weights(model, graph, file_);
  }

  const TemporaryFolder temporary_;
  const fs::path file_ = temporary_ / "weights";
};

// small_net() with its convolution named `name`.
Graph net_with_conv(const std::string& name) {
  Graph graph = small_net(3);
  for (Value& value : graph.values) {
    if (value.name == "conv1.weight") value.name = name + ".weight";
  }
  return graph;
}

std::vector<NamedTensor> other_weights(int classes) {
  return to_state_dict(make_model(small_net(classes), 99), 5);
}

void expect_equal(const Model& a, const Model& b) {
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    EXPECT_EQ(a.tensors[i].data, b.tensors[i].data) << a.tensors[i].about.name;
  }
}

template <class E>
std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another exception: ") + error.what();
  }
  return "nothing thrown";
}

// If stages have no heads, all of the net's layers are loaded, even those named like heads.
TEST_F(InitialWeightsTest, LayersCalledAsLocalHeadsAreTheNets) {
  for (const char* name : {"local", "local.conv1", "local.1.conv1"}) {
    SCOPED_TRACE(name);
    const Graph graph = net_with_conv(name);
    Model model = make_model(graph, 5);
    const Model other = make_model(graph, 99);
    std::vector<NamedTensor> tensors = to_state_dict(other, 5);
    EXPECT_EQ(load(model, graph, tensors).ignored, std::vector<std::string>{});
    expect_equal(model, other);
    for (NamedTensor& t : tensors) {
      if (t.name.starts_with("local")) t.name = "local.2.other";
    }
    EXPECT_THROW(load(model, graph, tensors), UsageError);
  }
  Model model = make_model(small_net(3), 5);
  std::vector<NamedTensor> tensors = other_weights(3);
  for (const char* more : {"local.1.fc.weight", "local.fc.weight"}) {
    tensors.push_back(tensors.front());
    tensors.back().name = more;
  }
  EXPECT_THAT(load(model, small_net(3), tensors).ignored, ElementsAre("local.fc.weight"));
}

TEST_F(InitialWeightsTest, TakesAllTensorsInAnyOrder) {
  const Graph graph = small_net(3);
  std::vector<NamedTensor> tensors = other_weights(3);
  std::reverse(tensors.begin(), tensors.end());
  tensors.push_back(make_f32("head.bias", {2}, std::vector<float>{1, 2}));
  Model model = make_model(graph, 1);
  const InitialWeights result = load(model, graph, tensors);
  expect_equal(model, make_model(graph, 99));
  EXPECT_THAT(result.kept, ElementsAre());
  EXPECT_THAT(result.ignored, ElementsAre("head.bias"));
}

TEST_F(InitialWeightsTest, KeepsTheClassifierForOtherClasses) {
  const Graph graph = small_net(4);
  Model model = make_model(graph, 1);
  const InitialWeights result = load(model, graph, other_weights(3));
  EXPECT_THAT(result.kept, ElementsAre("fc.weight", "fc.bias"));
  const Model before = make_model(graph, 1);
  const Model other = make_model(graph, 99);
  int loaded = 0;
  for (std::size_t i = 0; i < model.tensors.size(); ++i) {
    const bool head = model.tensors[i].about.name.starts_with("fc.");
    EXPECT_EQ(model.tensors[i].data, (head ? before : other).tensors[i].data);
    loaded += head ? 0 : 1;
  }
  EXPECT_EQ(loaded, 5);
}

// One parameter of the classifier may fit by chance.
TEST_F(InitialWeightsTest, KeepsTheClassifierAsAWhole) {
  const Graph graph = small_net(3);
  std::vector<NamedTensor> tensors = other_weights(3);
  for (NamedTensor& t : tensors) {
    if (t.name == "fc.weight") t = make_f32(t.name, {3, 4}, std::vector<float>(12));
  }
  Model model = make_model(graph, 1);
  EXPECT_THAT(load(model, graph, tensors).kept, ElementsAre("fc.weight", "fc.bias"));
  EXPECT_EQ(model.find("fc.bias").data, make_model(graph, 1).find("fc.bias").data);
}

TEST_F(InitialWeightsTest, RefusesWhatDoesNotFitAndChangesNothing) {
  const Graph graph = small_net(3);
  Model model = make_model(graph, 1);
  std::vector<NamedTensor> tensors = other_weights(3);
  const auto named = [&](const std::string& name) {
    return std::find_if(tensors.begin(), tensors.end(),
                        [&](const NamedTensor& t) { return t.name == name; });
  };
  const auto loading = [&] { load(model, graph, tensors); };

  const NamedTensor variance = *named("bn1.running_var");
  *named("bn1.running_var") = make_f32(
      "bn1.running_var", {2}, std::vector<float>{1, std::numeric_limits<float>::infinity()});
  EXPECT_THAT(message_of<FormatError>(loading), HasSubstr("bn1.running_var"));
  *named("bn1.running_var") = {"bn1.running_var", "I32", {2}, Bytes(8)};
  EXPECT_THAT(message_of<FormatError>(loading), HasSubstr("I32"));
  *named("bn1.running_var") = make_f32("bn1.running_var", {1, 2}, std::vector<float>(2));
  EXPECT_THAT(message_of<UsageError>(loading), HasSubstr("bn1.running_var has shape (1, 2)"));
  tensors.erase(named("bn1.running_var"));
  EXPECT_THAT(message_of<UsageError>(loading), HasSubstr("no tensor bn1.running_var"));
  expect_equal(model, make_model(graph, 1));
  tensors.push_back(variance);
  loading();
  expect_equal(model, make_model(graph, 99));
}

// An equal number of classes does not mean the same classes.
TEST_F(InitialWeightsTest, AClassifierGoesByTheNamesOfItsClasses) {
  const Graph graph = small_net(3);
  const auto load_named = [&](Model& model, const std::vector<std::string>& of_file) {
    std::map<std::string, std::string> metadata;
    add_classes(metadata, of_file);
    write_file_durably(file_, to_safetensors(other_weights(3), metadata));
    return load_initial_weights(model, graph, file_);
  };
  Model begun = make_model(graph, 1);
  Model model = begun;
  model.classes = {"a", "b", "c"};
  Model as_file = model;
  EXPECT_THAT(load_named(as_file, {"a", "b", "c"}).kept, testing::IsEmpty());
  EXPECT_NE(as_file.find("fc.bias").data, begun.find("fc.bias").data);

  Model turned = model;
  const InitialWeights by_name = load_named(turned, {"b", "c", "a"});
  EXPECT_THAT(by_name.kept, testing::IsEmpty());
  EXPECT_EQ(turned.classes, model.classes);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(turned.find("fc.bias").data[i], as_file.find("fc.bias").data[(i + 2) % 3]);
  }

  Model others = model;
  const InitialWeights kept = load_named(others, {"a", "b", "d"});
  EXPECT_THAT(kept.kept, ElementsAre("fc.weight", "fc.bias"));
  EXPECT_THAT(kept.other, HasSubstr("'c'"));
  EXPECT_EQ(others.find("fc.weight").data, begun.find("fc.weight").data);
  EXPECT_EQ(others.find("conv1.weight").data, as_file.find("conv1.weight").data);

  Model unnamed = model;
  EXPECT_TRUE(load_named(unnamed, {}).unnamed);
  EXPECT_EQ(unnamed.find("fc.bias").data, as_file.find("fc.bias").data);

  Model features = begun;  // features need no classes
  EXPECT_FALSE(load_named(features, {"x", "y", "z"}).unnamed);
  EXPECT_EQ(features.find("fc.bias").data, as_file.find("fc.bias").data);
}

// Prefixes that DataParallel, torch.compile and Lightning add to names.
TEST_F(InitialWeightsTest, NamesOfWrappersAreTakenOff) {
  const Graph graph = small_net(3);
  Model plain = make_model(graph, 1);
  load(plain, graph, other_weights(3));
  for (const char* prefix :
       {"module.", "_orig_mod.", "model.", "module._orig_mod.", "model.module."}) {
    std::vector<NamedTensor> tensors = other_weights(3);
    for (NamedTensor& t : tensors) t.name = prefix + t.name;
    Model model = make_model(graph, 1);
    load(model, graph, tensors);
    expect_equal(model, plain);
    tensors.front().name = "alone";
    EXPECT_THROW(load(model, graph, tensors), UsageError);
  }
}

TEST_F(InitialWeightsTest, WhatIsNoSafetensorsIsNamed) {
  const std::pair<std::string, std::string> kinds[] = {
      {std::string("PK\x03\x04", 4), "torch.save"},
      {std::string("\x80\x02}q", 4), "torch.save"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "git lfs pull"},
      {"<!DOCTYPE html><html></html>", "web page"},
      {"\x89HDF\r\n\x1a\n", "HDF5"}};
  const Graph graph = small_net(3);
  for (const auto& [content, word] : kinds) {
    write_file_durably(file_, content + std::string(100, '\0'));
    Model model = make_model(graph, 1);
    const auto loading = [&] { load_initial_weights(model, graph, file_); };
    EXPECT_THAT(message_of<FormatError>(loading), HasSubstr(word));
  }
}

TEST_F(InitialWeightsTest, OfFeaturesLearntWithoutClassesAreNoClassifier) {
  const Graph graph = small_net(3);
  std::vector<NamedTensor> tensors = other_weights(3);
  tensors.push_back(make_f32("projector.3.weight", {1}, std::vector<float>(1)));
  Model model = make_model(graph, 1);
  model.classes = {"a", "b", "c"};
  const InitialWeights result = load(model, graph, tensors);
  EXPECT_THAT(result.kept, ElementsAre("fc.weight", "fc.bias"));
  EXPECT_THAT(result.other, HasSubstr("without classes"));
}

// With any byte changed, a file gives an error or finite numbers of the right shapes.
TEST_F(InitialWeightsTest, DamagedFilesNeverDoHarm) {
  const Graph graph = small_net(3);
  const Bytes whole = to_safetensors(other_weights(3), {});
  int refused = 0;
  int taken = 0;
  const auto judge = [&](const Bytes& bytes) {
    std::ofstream(file_, std::ios::binary)  // thousands of writes: no sync needed
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    Model model = make_model(graph, 1);
    try {
      load_initial_weights(model, graph, file_);
    } catch (const FormatError&) {
      ++refused;
    } catch (const UsageError&) {
      ++refused;
    }
    ++taken;
    for (const Model::Tensor& t : model.tensors) {
      ASSERT_EQ(t.data.size(), static_cast<std::size_t>(element_count(t.about.shape)));
      for (const float v : t.data) ASSERT_TRUE(std::isfinite(v));
    }
  };
  for (std::size_t i = 0; i < whole.size(); ++i) {
    judge(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i)));
    EXPECT_EQ(refused, static_cast<int>(i) + 1) << "cut to " << i;
  }
  const int cut = refused;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int flip : {0x01, 0x10, 0x80, 0xff}) {
      Bytes bytes = whole;
      bytes[i] ^= static_cast<std::byte>(flip);
      judge(bytes);
    }
  }
  EXPECT_GT(refused, cut + 1000);
  EXPECT_GT(taken, refused);
}

std::vector<std::string> frozen_by(const std::vector<LrScale>& rules) {
  Model model = make_model(small_net(3), 1);
  apply_lr_scales(model, rules);
  return frozen_tensors(model);
}

TEST(Rates, PatternsMatchWholeNames) {
  EXPECT_THAT(frozen_by({{"conv1.weight", 0}}), ElementsAre("conv1.weight"));
  EXPECT_THAT(frozen_by({{"*.bias", 0}}), ElementsAre("bn1.bias", "fc.bias"));
  EXPECT_THAT(frozen_by({{"*n*.w*t", 0}}), ElementsAre("conv1.weight", "bn1.weight"));
  EXPECT_THAT(frozen_by({{"bn1.running_*", 0}}),
              ElementsAre("bn1.running_mean", "bn1.running_var"));
  EXPECT_THAT(frozen_by({{"**fc**.*", 0}}), ElementsAre("fc.weight", "fc.bias"));
  EXPECT_THAT(frozen_by({{"[bf]?*.bias", 0}}), ElementsAre("bn1.bias", "fc.bias"));
  for (const char* pattern :
       {"conv1", "weight", "*.weigh", "onv1.weight*", "*.weight*x", "", "[x-z]*"}) {
    EXPECT_THAT(message_of<UsageError>([&] {
                  frozen_by({{pattern, 0}});
                }),
                HasSubstr("'" + std::string(pattern) + "'"))
        << pattern;
  }
}

TEST(Rates, TheLastRuleThatMatchesHolds) {
  Model model = make_model(small_net(3), 1);
  apply_lr_scales(model, {{"*", 0}, {"*.weight", 0.5}, {"fc.*", 2}, {"fc.bias", 0.25}});
  EXPECT_EQ(model.find("conv1.weight").lr_scale, 0.5);
  EXPECT_EQ(model.find("bn1.bias").lr_scale, 0);
  EXPECT_EQ(model.find("bn1.running_mean").lr_scale, 0);
  EXPECT_EQ(model.find("fc.weight").lr_scale, 2);
  EXPECT_EQ(model.find("fc.bias").lr_scale, 0.25);
}

TEST(Rates, RunningStatisticsAreFrozenOrNot) {
  Model model = make_model(small_net(3), 1);
  apply_lr_scales(model, {{"*", 0.1}});
  EXPECT_EQ(model.find("bn1.running_mean").lr_scale, 1);
  EXPECT_EQ(model.find("bn1.weight").lr_scale, 0.1);
}

TEST(Rates, RefusesSenselessOnes) {
  for (const double factor : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(frozen_by({{"fc.*", factor}}), UsageError) << factor;
  }
  EXPECT_THAT(message_of<UsageError>([] { frozen_by({{"*", 0}}); }), HasSubstr("frozen"));
  EXPECT_THAT(message_of<UsageError>([] {
                frozen_by({{"*", 0}, {"bn1.running_*", 1}});
              }),
              HasSubstr("frozen"));
}

std::vector<std::string> without_decay(const std::vector<std::string>& patterns) {
  Model model = make_model(small_net(3), 1);
  apply_no_decay(model, patterns);
  std::vector<std::string> names;
  for (const Model::Tensor& t : model.tensors) {
    if (t.about.kind == ValueKind::kParameter && !t.about.decay) names.push_back(t.about.name);
  }
  return names;
}

TEST(NoDecay, IsWhatThePatternsSay) {
  EXPECT_THAT(without_decay({"*.bias", "bn*"}), ElementsAre("bn1.weight", "bn1.bias", "fc.bias"));
  EXPECT_THAT(without_decay({"fc.*"}), ElementsAre("fc.weight", "fc.bias"));
  EXPECT_TRUE(without_decay({}).empty());
  EXPECT_THAT(message_of<UsageError>([] {
                without_decay({"fc.*", "head.*"});
              }),
              HasSubstr("'head.*'"));
  EXPECT_THROW(without_decay({"*.running_mean"}), UsageError);
}

TEST_F(InitialWeightsTest, AModelBeginsWithTheFileAndSaysWhatItLeftAlone) {
  const Graph graph = small_net(4);
  std::vector<NamedTensor> tensors = other_weights(3);
  tensors.push_back(make_i64("epoch", 3));
  write_file_durably(file_, to_safetensors(tensors, {}));
  const auto comm = comm::make_single();
  std::vector<std::string> notes;
  const auto note = [&](const std::string& sentence) { notes.push_back(sentence); };
  const StartOptions start{.init_from = file_, .lr_scales = {{"fc.*", 3}}, .no_decay = {}};
  Model model = outline_model(graph, start, *comm);
  EXPECT_TRUE(model.tensors.front().data.empty());
  begin_model(model, graph, 1, start, *comm, note);
  EXPECT_EQ(model.tensors.front().data, make_model(graph, 99).tensors.front().data);
  EXPECT_EQ(model.tensors.back().lr_scale, 3);
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_THAT(notes[0], HasSubstr("fc.weight, fc.bias keep their initial values"));
  EXPECT_THAT(notes[1], HasSubstr("ignored: epoch"));
  EXPECT_EQ(digest_of_weights(file_, *comm).size(), 32U);
  EXPECT_EQ(digest_of_weights({}, *comm), "");
}

// A net for images in patches of 1 pixel.
Graph small_vit(int side_px) {
  NetBuilder net({.batch = 2,
                  .channels = 1,
                  .height_px = side_px,
                  .width_px = side_px,
                  .classes = 3,
                  .mean = {0.5F},
                  .stddev = {0.25F},
                  .loss = {}});
  const ValueId x = net.conv("conv", net.image(), {.filters = 2});
  const ValueId first = net.weight("class_token", {1, 1, 2}, Init::kZeros);
  const ValueId position =
      net.weight("pos_embedding", {1, 1 + side_px * side_px, 2}, Init::kNormal002);
  const ValueId tokens = net.add_layer(kTokens, "tokens", {x, first, position});
  return std::move(net).finish(net.linear("fc", net.add_layer(kSelectToken, "class", {tokens}), 3));
}

TEST_F(InitialWeightsTest, OfAnotherImageSizeSayWhatToChoose) {
  const Graph graph = small_vit(3);
  Model model = make_model(graph, 1);
  EXPECT_THAT([&] { load(model, graph, to_state_dict(make_model(small_vit(2), 2), 5)); },
              testing::ThrowsMessage<UsageError>(
                  HasSubstr("pos_embedding has shape (1, 5, 2), the net needs (1, 10, 2); it has "
                            "one row per patch plus one, so use the --image-size")));
}

// A net whose logits are a token of 3 numbers.
Graph headless_net() {
  NetBuilder net({.batch = 2,
                  .channels = 1,
                  .height_px = 2,
                  .width_px = 2,
                  .classes = 3,
                  .mean = {0.5F},
                  .stddev = {0.25F},
                  .loss = {}});
  const ValueId x = net.conv("conv", net.image(), {.filters = 3});
  const ValueId first = net.weight("class_token", {1, 1, 3}, Init::kZeros);
  const ValueId position = net.weight("pos_embedding", {1, 5, 3}, Init::kNormal002);
  const ValueId tokens = net.add_layer(kTokens, "tokens", {x, first, position});
  return std::move(net).finish(net.add_layer(kSelectToken, "class", {tokens}));
}

TEST_F(InitialWeightsTest, ANetWithoutAHeadTakesItsOwnClassesAlone) {
  const Graph graph = headless_net();
  Model model = make_model(graph, 1);
  model.classes = {"a", "b", "c"};
  Model begun = model;
  const auto load_with = [&](const std::string& classes) {
    write_file_durably(
        file_, to_safetensors(to_state_dict(make_model(graph, 99), 5), {{kClassesEntry, classes}}));
    return load_initial_weights(model, graph, file_);
  };
  for (const char* names : {R"(["a","b","d"])", R"(["b","c","a"])"}) {
    EXPECT_THROW(load_with(names), UsageError) << names;
    expect_equal(model, begun);
    EXPECT_EQ(model.classes, begun.classes);
  }
  EXPECT_FALSE(load_with(R"(["a","b","c"])").unnamed);
  EXPECT_NE(model.find("conv.weight").data, begun.find("conv.weight").data);
  EXPECT_TRUE(load_with("cat,dog").unnamed);
}

}  // namespace winnow::train::initial_weights_test
