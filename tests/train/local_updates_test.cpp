// Local updates: each stage has a loss of its own, whose gradients end where the stage begins.

#include "train/nets/local_updates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/train/cases.h"
#include "tests/train/net_options.h"
#include "train/backend/reference/interpret.h"
#include "train/graph/arena_layout.h"
#include "train/graph/borders.h"
#include "train/graph/stages.h"
#include "train/nets/builder.h"
#include "train/nets/local_heads.h"
#include "train/ops/pooling.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train::local_updates_test {

using testing::ElementsAre;
using testing::HasSubstr;
using Numbers = std::vector<double>;

NetOptions small(std::int64_t batch = 3, int side_px = 8) {
  NetOptions options = square_images(side_px, 3);
  options.batch = batch;
  return options;
}

// resnet20 with heads, fused; its stages end at these values.
Graph staged(const std::string& updates, const std::vector<std::string>& ends,
             const std::string& head, const NetOptions& net = small()) {
  const LocalSetup local{.updates = updates, .ends = ends, .head = head};
  return fuse(with_heads(local, fuse(find_net("resnet20").make(net)), net));
}

Graph trained(const Graph& forward, int neighbours) {
  return prune(order_by_stage(differentiate(forward, local_losses(forward, neighbours))));
}

// Random inputs and parameters by name, the same in every graph.
std::map<std::string, Numbers> named_inputs(const Graph& graph, std::uint64_t seed = 21) {
  std::map<std::string, Numbers> named;
  for (auto& [id, numbers] : random_inputs(graph, seed)) named[graph.value(id).name] = numbers;
  return named;
}

std::vector<Numbers> computed(const Graph& graph, const std::map<std::string, Numbers>& inputs) {
  std::map<ValueId, Numbers> given;
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    if (graph.values[i].kind == ValueKind::kComputed) continue;
    given[static_cast<ValueId>(i)] = inputs.at(graph.values[i].name);
  }
  return interpret(graph, given);
}

// The gradient of every parameter, by name.
std::map<std::string, Numbers> gradients(const Graph& graph,
                                         const std::map<std::string, Numbers>& inputs) {
  const std::vector<Numbers> values = computed(graph, inputs);
  std::map<std::string, Numbers> found;
  for (const Output& output : graph.outputs) {
    if (output.kind != OutputKind::kGradient) continue;
    EXPECT_TRUE(
        found.emplace(graph.value(output.of).name, values[static_cast<std::size_t>(output.value)])
            .second)
        << graph.value(output.of).name << " has two gradients";
  }
  return found;
}

std::map<std::string, int> stage_of_parameters(const Graph& graph) {
  const Stages stages = find_stages(graph);
  std::map<std::string, int> found;
  for (const ValueId id : graph.of_kind(ValueKind::kParameter)) {
    found[graph.value(id).name] = stages.of_value[static_cast<std::size_t>(id)];
  }
  return found;
}

const std::vector<std::string> kThree = {"layer1.1.relu2", "layer2.1.relu2"};

// One stage.

TEST(LocalUpdates, OfOneStageAreThePlainGraph) {
  for (const Net& net : nets()) {
    SCOPED_TRACE(net.name);
    const Graph forward = fuse(net.make(square_images(net.default_side_px)));
    for (const int neighbours : {0, 1}) {
      EXPECT_EQ(to_text(trained(forward, neighbours)), to_text(prune(differentiate(forward))));
    }
    EXPECT_EQ(to_text(with_heads({}, forward, square_images(net.default_side_px))),
              to_text(forward));
  }
}

// Heads.

TEST(LocalHeads, AreTheirSourcesOnMaps) {
  const Graph graph = staged("greedy", {"layer1.2.relu2"}, "mlp-sr", small(2, 32));
  EXPECT_THAT(graph.value(graph.find("local.1.conv3.weight")).shape, ElementsAre(16, 16, 1, 1));
  EXPECT_THAT(graph.value(graph.find("local.1.conv1")).shape, ElementsAre(2, 16, 8, 8));
  EXPECT_THAT(graph.value(graph.find("local.1.fc1.weight")).shape, ElementsAre(64, 64));
  EXPECT_THAT(graph.value(graph.find("local.1.fc3.weight")).shape, ElementsAre(64, 64));
  EXPECT_THAT(graph.value(graph.find("local.1.fc.weight")).shape, ElementsAre(3, 64));
  std::int64_t parameters = 0;
  for (const Value& value : graph.values) {
    const bool ours = value.name.starts_with(kLocalPrefix) && value.kind == ValueKind::kParameter;
    parameters += ours ? element_count(value.shape) : 0;
  }
  const std::int64_t c = 16;
  EXPECT_EQ(parameters, 3 * (c * c + 2 * c) + 3 * (16 * c * c + 3 * 4 * c) + 3 * 4 * c + 3);
}

// The published head would have 57.6 M parameters at 1,024 channels.
TEST(LocalHeads, AreNarrowerThanPublishedOnWideNets) {
  const NetOptions options = square_images(128, 1000);
  const Graph forward = fuse(find_net("resnet50").make(options));
  const auto head_parameters = [&](const char* head) {
    const Graph graph = with_heads({.updates = "greedy", .ends = {"layer3.5.relu3"}, .head = head},
                                   forward, options);
    return count(graph).parameters - count(forward).parameters;
  };
  EXPECT_NEAR(static_cast<double>(head_parameters("mlp-sr-full")) / 1e6, 57.6, 0.05);
  const std::int64_t c = 1024;
  EXPECT_EQ(head_parameters("mlp-sr"),
            3 * (c * c + 2 * c) + (4 * c * c + 3 * c) + 2 * (c * c + 3 * c) + 1000 * c + 1000);
  EXPECT_EQ(head_parameters("linear"), 1000 * c + 1000);
  const LocalSetup local{.updates = "greedy", .ends = {"layer3.5.relu3"}, .head = "mlp-sr"};
  EXPECT_THAT(heads_in_words(local, with_heads(local, forward, options)),
              testing::AllOf(HasSubstr("mlp-sr of 10.48 M parameters, 41.9 MB"),
                             HasSubstr("are 1024 wide instead of the published 4096")));
}

TEST(LocalHeads, StandOnEveryBorderOfEveryNet) {
  for (const Net& net : nets()) {
    SCOPED_TRACE(net.name);
    NetOptions options = square_images(net.default_side_px);
    options.batch = 2;
    const Graph forward = fuse(net.make(options));
    std::vector<ValueId> ends;
    for (const Border& end : stage_ends(forward)) ends.push_back(end.value);
    for (const LocalHead& head : local_heads()) {
      if (head.name == "mlp-sr-full" && net.default_side_px > 32) continue;  // over 2^31 elements
      const Graph graph = with_local_heads(forward, ends, head, options);
      EXPECT_EQ(find_stages(graph).count, static_cast<int>(ends.size()) + 1);
      std::set<std::string> names;
      for (const Value& value : trained(fuse(graph), 1).values) {
        EXPECT_TRUE(names.insert(value.name).second) << "two " << value.name;
      }
    }
  }
}

// The widest window of the head's pool: a quarter of the side or little more.
int widest_window(const Graph& forward, const char* end, const NetOptions& options) {
  const Graph graph =
      with_local_heads(forward, {forward.find(end)}, find_local_head("mlp-sr"), options);
  const auto pool = std::ranges::find(graph.nodes, "local.1.pool1", &Node::name);
  if (pool == graph.nodes.end()) return 0;
  const auto& windows = *pool->attributes.find<PoolAttributes>();
  return std::max(windows.kernel_h, windows.kernel_w);
}

TEST(LocalHeads, PoolByWindowsOfAFewPlaces) {
  for (const int side : {4, 5, 6, 7, 9, 11, 13, 15, 17, 29, 33, 65, 97, 131, 222, 223, 224}) {
    for (const int width : {side, 5, 7, 224}) {
      NetOptions options = small(1, side);
      options.width_px = width;
      const int widest = widest_window(find_net("resnet20").make(options), "relu", options);
      EXPECT_GE(widest, 3) << side << " x " << width;
      EXPECT_LE(widest, 7) << side << " x " << width;
    }
  }
  const NetOptions tokens_65 = small(1, 32);
  EXPECT_EQ(widest_window(find_net("vit_tiny_patch4_32").make(tokens_65),
                          "encoder.layers.encoder_layer_3.add_2", tokens_65),
            5);
  const NetOptions tokens_197 = small(1, 224);
  EXPECT_EQ(widest_window(find_net("vit_b_16").make(tokens_197),
                          "encoder.layers.encoder_layer_3.add_2", tokens_197),
            5);
}

// A net with a block named "local", whose values have these names.
Graph net_with(const std::vector<std::string>& names, const NetOptions& options) {
  NetBuilder net(options);
  ValueId x = net.image();
  for (const std::string& name : names) x = net.conv(name, x, {.filters = 4});
  x = net.linear("fc", net.global_average_pool("avgpool", x), options.classes);
  return std::move(net).finish(x);
}

TEST(LocalHeads, DoNotTakeNamesOfTheNet) {
  for (const char* name : {"local.1.fc.weight", "local.12.conv1"}) {
    EXPECT_TRUE(is_named_as_local_head(name)) << name;
  }
  for (const char* name :
       {"local.weight", "local.1", "local.a.1.fc", "local..fc", "a.local.1.fc"}) {
    EXPECT_FALSE(is_named_as_local_head(name)) << name;
  }
  const NetOptions options = small();
  const LocalSetup local{.updates = "greedy", .ends = {"stem"}, .head = "linear"};
  EXPECT_NO_THROW(with_heads(local, net_with({"stem", "local", "local.conv"}, options), options));
  EXPECT_THAT(
      [&] {
        with_heads(local, net_with({"stem", "local.1.conv"}, options), options);
      },
      testing::ThrowsMessage<UsageError>(HasSubstr("the net has local.1.conv.weight, a name")));
}

TEST(LocalHeads, StandOnValuesOfExactNames) {
  const NetOptions options = small();
  const Graph forward = net_with({"stem", "stem.next", "last"}, options);
  const auto end_of = [&](std::vector<std::string> ends) {
    const Graph graph = with_heads({.updates = "greedy", .ends = std::move(ends), .head = "linear"},
                                   forward, options);
    return graph.value(losses_of_stages(graph).front().of).name;
  };
  EXPECT_EQ(end_of({"stem"}), "stem");
  EXPECT_EQ(end_of({"stem.next"}), "stem.next");
  const Graph resnet = fuse(find_net("resnet20").make(options));
  const auto refuses = [&](std::vector<std::string> ends, const char* words) {
    const LocalSetup local{.updates = "greedy", .ends = std::move(ends), .head = "linear"};
    EXPECT_THAT([&] { with_heads(local, resnet, options); },
                testing::ThrowsMessage<UsageError>(HasSubstr(words)));
  };
  refuses({"layer1"}, "no stage of the net can end at a value 'layer1'");
  refuses({"layer2.0.relu2", "layer1.0.relu2"}, "layer1.0.relu2 does not come after");
  refuses({"relu", "relu"}, "relu does not come after");
}

TEST(LocalHeads, AreToldInUnitsOfTheirSize) {
  const LocalSetup local{.updates = "greedy", .ends = {"relu"}, .head = "linear"};
  const auto said = [&](std::int64_t batch) {
    const NetOptions options = small(batch, 32);
    return heads_in_words(local, with_heads(local, find_net("resnet20").make(options), options));
  };
  // 16 means, three classes, a loss, and one loss per sample.
  EXPECT_THAT(said(1), HasSubstr("linear of 0.05 k parameters, 0.2 kB, and values of 0.1 kB for "
                                 "one image"));
  EXPECT_THAT(said(8), HasSubstr("for a micro-batch of 8 images"));
}

TEST(LocalHeads, LeaveTheNetAsItIs) {
  const NetOptions net = small();
  const Graph plain = fuse(find_net("resnet20").make(net));
  const Graph graph = staged("greedy", kThree, "mlp-sr");
  EXPECT_EQ(to_text(for_inference(graph)).find("local_"), std::string::npos);
  const auto inputs = named_inputs(graph);
  const auto of = [&](const Graph& g, const char* name) {
    return computed(g, inputs)[static_cast<std::size_t>(g.find(name))];
  };
  EXPECT_EQ(of(graph, "loss"), of(plain, "loss"));
  EXPECT_EQ(of(for_inference(graph), "loss"), of(for_inference(plain), "loss"));
}

TEST(LocalHeads, ArePutInPlaceOfTheNet) {
  const Graph graph = staged("greedy", kThree, "mlp-sr");
  auto inputs = named_inputs(graph);
  inputs["local.2.weights"] = inputs["weights"];
  const std::vector<Numbers> all = computed(graph, inputs);
  const Graph second = at_head(graph, 2);
  const std::vector<Numbers> alone = computed(second, inputs);
  const std::vector<Output> losses = losses_of_stages(second);
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_EQ(alone[static_cast<std::size_t>(losses[0].value)],
            all[static_cast<std::size_t>(graph.find("local.2.loss"))]);
  // A head is found by its number, not by its position.
  const Graph forward = fuse(find_net("resnet20").make(small()));
  const ValueId end = forward.find("layer1.1.relu2");
  const Graph both = with_local_heads(forward, {end, end}, find_local_head("linear"), small());
  EXPECT_EQ(losses_of_stages(at_head(both, 2)).size(), 1U);
  EXPECT_NO_THROW(for_inference(second));
  EXPECT_THAT([&] { at_head(graph, 3); },
              testing::ThrowsMessage<UsageError>(HasSubstr("its heads are 1 to 2")));
  EXPECT_THAT([&] { at_head(fuse(find_net("resnet20").make(small())), 1); },
              testing::ThrowsMessage<UsageError>(HasSubstr("trained as a whole")));
}

// Gradients.

// The loss of one stage. `inputs` has the sample weights of every stage.
double loss_of_stage(const Graph& graph, const std::map<std::string, Numbers>& inputs,
                     std::size_t stage) {
  const Output loss = losses_of_stages(graph)[stage];
  return computed(graph, inputs)[static_cast<std::size_t>(loss.value)].front();
}

// Compares with central differences, which hold if there is no kink within the step.
void expect_finite_differences(const Graph& forward, int neighbours) {
  const Graph graph = trained(forward, neighbours);
  auto inputs = named_inputs(forward, 5);
  const auto found = gradients(graph, inputs);
  const auto stages = stage_of_parameters(forward);
  const std::size_t count = losses_of_stages(forward).size();
  int compared = 0;
  int kinks = 0;
  for (const auto& [name, gradient] : found) {
    const auto first = static_cast<std::size_t>(stages.at(name));
    const std::size_t last = std::min(first + static_cast<std::size_t>(neighbours), count - 1);
    const std::size_t i = gradient.size() / 2;
    const auto loss_at = [&](double by) {
      auto moved = inputs;
      moved.at(name)[i] += by;
      double sum = 0;
      for (std::size_t k = first; k <= last; ++k) sum += loss_of_stage(forward, moved, k);
      return sum;
    };
    constexpr double kStep = 1e-5;
    const double wide = (loss_at(2 * kStep) - loss_at(-2 * kStep)) / (4 * kStep);
    const double narrow = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
    const double scale = std::max(1e-3, std::abs(gradient[i]));
    if (std::abs(wide - narrow) > 1e-5 * scale) {
      ++kinks;
      continue;
    }
    EXPECT_NEAR(gradient[i], narrow, 1e-4 * scale) << name;
    ++compared;
  }
  EXPECT_GT(compared, 20);
  EXPECT_LT(kinks, compared);
}

TEST(LocalGradients, AreThoseOfFiniteDifferences) {
  for (const char* head : {"linear", "mlp-sr"}) {
    SCOPED_TRACE(head);
    for (const int neighbours : {0, 1}) {
      expect_finite_differences(staged("greedy", {"relu", "layer1.0.relu2"}, head, small(4, 4)),
                                neighbours);
    }
  }
}

// Changing one stage's loss leaves the gradients of others unchanged, to the bit.
TEST(LocalGradients, GoNoFurtherThanTheirStages) {
  const Graph forward = staged("greedy", kThree, "mlp-sr");
  const auto stages = stage_of_parameters(forward);
  const auto inputs = named_inputs(forward);
  for (const int neighbours : {0, 1}) {
    const Graph graph = trained(forward, neighbours);
    const auto before = gradients(graph, inputs);
    EXPECT_EQ(before.size(), forward.of_kind(ValueKind::kParameter).size());
    for (int stage = 0; stage < 3; ++stage) {
      auto changed = inputs;
      const std::string weights =
          stage == 2 ? "weights"
                     : local_head_name(static_cast<std::size_t>(stage) + 1) + ".weights";
      for (double& weight : changed.at(weights)) weight *= 3;
      int moved = 0;
      for (const auto& [name, gradient] : gradients(graph, changed)) {
        const int of = stages.at(name);
        const bool may_move = of <= stage && of >= stage - neighbours;
        if (!may_move) {
          EXPECT_EQ(gradient, before.at(name)) << name << " by the loss of stage " << stage;
        }
        moved += gradient != before.at(name) ? 1 : 0;
      }
      EXPECT_GT(moved, 10);
    }
  }
}

// Nothing in a later stage changes a gradient of an earlier one.
TEST(LocalGradients, OfAGreedyStageKnowNoOtherStagesParameters) {
  const Graph forward = staged("greedy", kThree, "mlp-sr");
  const Graph graph = trained(forward, 0);
  const auto stages = stage_of_parameters(forward);
  const auto inputs = named_inputs(forward);
  const auto before = gradients(graph, inputs);
  for (int stage = 1; stage < 3; ++stage) {
    auto changed = inputs;
    for (auto& [name, numbers] : changed) {
      const auto found = stages.find(name);
      if (found == stages.end() || found->second < stage) continue;
      for (double& number : numbers) number += 0.25;
    }
    for (const auto& [name, gradient] : gradients(graph, changed)) {
      if (stages.at(name) >= stage) continue;
      EXPECT_EQ(gradient, before.at(name)) << name;
    }
  }
}

// Where a stage begins, what it reads is as good as an input: its gradients are those of a graph
// that has nothing but the stage, as nets trained apart on stored activations have them. What it
// ends with, the next one reads.
TEST(LocalGradients, AreThoseOfStagesApart) {
  const Graph forward = staged("greedy", kThree, "linear");
  const Graph graph = trained(forward, 0);
  const auto inputs = named_inputs(forward);
  const auto together = gradients(graph, inputs);
  const std::vector<Numbers> stored = computed(forward, inputs);
  const std::vector<Output> losses = losses_of_stages(forward);
  const auto number = [](ValueId id) { return static_cast<std::size_t>(id); };
  std::size_t compared = 0;
  for (std::size_t stage = 0; stage < losses.size(); ++stage) {
    const Graph alone = at_stage(graph, static_cast<int>(stage));
    auto given = inputs;
    if (stage > 0) given["pixels"] = stored[number(losses[stage - 1].of)];
    const bool is_last = stage + 1 == losses.size();
    if (!is_last) given["weights"] = inputs.at("local." + std::to_string(stage + 1) + ".weights");
    for (const auto& [name, gradient] : gradients(alone, given)) {
      EXPECT_EQ(gradient, together.at(name)) << name;
      ++compared;
    }
    const std::vector<Numbers> values = computed(alone, given);
    for (const Output& output : alone.outputs) {
      EXPECT_FALSE(is_local(output));
      if (output.kind == OutputKind::kLoss) {
        EXPECT_EQ(values[number(output.value)], stored[number(losses[stage].value)]);
      } else if (output.kind == OutputKind::kValue) {
        EXPECT_FALSE(is_last);
        EXPECT_EQ(values[number(output.value)], stored[number(losses[stage].of)]);
      }
    }
    EXPECT_EQ(losses_of_stages(alone).size(), 1U);
  }
  EXPECT_EQ(compared, together.size());
  EXPECT_THROW(at_stage(graph, 3), Error);
}

std::vector<std::string> names_of_tensors(const Graph& graph) {
  std::vector<std::string> names;
  for (const Value& value : graph.values) {
    const bool kept = value.kind == ValueKind::kParameter || value.kind == ValueKind::kBuffer;
    if (kept) names.push_back(value.name);
  }
  return names;
}

TEST(TensorsOfStages, AreEachInTheGraphOfOneStage) {
  const Graph forward = staged("greedy", kThree, "mlp-sr");
  const Graph graph = trained(forward, 0);
  const std::vector<std::string> all = names_of_tensors(forward);
  const std::vector<int> stages = stages_of_tensors(forward);
  ASSERT_EQ(stages.size(), all.size());
  std::vector<std::vector<std::string>> wanted(3);
  for (std::size_t t = 0; t < all.size(); ++t) {
    wanted[static_cast<std::size_t>(stages[t])].push_back(all[t]);
  }
  for (int stage = 0; stage < 3; ++stage) {
    const std::vector<std::string>& own = wanted[static_cast<std::size_t>(stage)];
    EXPECT_FALSE(own.empty());
    EXPECT_EQ(names_of_tensors(at_stage(graph, stage)), own);
    EXPECT_EQ(names_of_tensors(at_stage(forward, stage)), own);
  }
  EXPECT_EQ(stages_of_tensors(fuse(find_net("resnet20").make(small()))),
            std::vector<int>(names_of_tensors(fuse(find_net("resnet20").make(small()))).size(), 0));
}

// Each stage reads what the one before it has computed, and none computes a head.
TEST(InferenceOfStages, IsThatOfTheNet) {
  const Graph forward = staged("greedy", kThree, "mlp-sr");
  const Graph whole = for_inference(forward);
  const auto inputs = named_inputs(forward);
  const std::vector<Numbers> wanted = computed(whole, inputs);
  const auto number = [](ValueId id) { return static_cast<std::size_t>(id); };
  auto given = inputs;
  std::size_t nodes = 0;
  for (int stage = 0; stage < 3; ++stage) {
    const Graph graph = at_stage_for_inference(forward, stage);
    const std::vector<Numbers> values = computed(graph, given);
    nodes += graph.nodes.size();
    if (stage < 2) {
      ASSERT_EQ(graph.outputs.size(), 1U);
      given["pixels"] = values[number(graph.outputs[0].value)];
      continue;
    }
    ASSERT_EQ(graph.outputs.size(), whole.outputs.size());
    for (std::size_t i = 0; i < whole.outputs.size(); ++i) {
      EXPECT_EQ(graph.outputs[i].kind, whole.outputs[i].kind);
      EXPECT_EQ(values[number(graph.outputs[i].value)], wanted[number(whole.outputs[i].value)]);
    }
  }
  EXPECT_EQ(nodes, whole.nodes.size());
}

// Order.

TEST(OrderByStage, EndsOneStageBeforeTheNext) {
  const Graph forward = staged("greedy", kThree, "mlp-sr");
  const Graph plain = differentiate(forward, local_losses(forward, 0));
  const Graph graph = order_by_stage(plain);
  EXPECT_TRUE(std::ranges::is_sorted(find_stages(graph).of_node));
  std::set<ValueId> there;
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    if (graph.values[i].kind != ValueKind::kComputed) there.insert(static_cast<ValueId>(i));
  }
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.inputs) {
      EXPECT_TRUE(there.contains(id)) << node.name << " reads " << graph.value(id).name;
    }
    there.insert(node.outputs.begin(), node.outputs.end());
  }
  const auto inputs = named_inputs(forward);
  EXPECT_EQ(gradients(graph, inputs), gradients(plain, inputs));
}

// The memory of a stage is free before the next begins.
TEST(OrderByStage, MakesTheArenaSmaller) {
  const NetOptions net = small(8, 32);
  const std::size_t plain =
      lay_out_arena(prune(differentiate(fuse(find_net("resnet56").make(net)))), DType::kF32)
          .arena_bytes;
  const auto local = [&](const char* stages, int neighbours) {
    const Graph forward = fuse(find_net("resnet56").make(net));
    const LocalSetup chosen = choose_stages(
        {.updates = "greedy", .stages = stages, .balance = "memory", .head = "linear"}, forward,
        net);
    return static_cast<double>(
               lay_out_arena(trained(fuse(with_heads(chosen, forward, net)), neighbours),
                             DType::kF32)
                   .arena_bytes) /
           static_cast<double>(plain);
  };
  EXPECT_LT(local("2", 0), 0.6);
  EXPECT_LT(local("4", 0), 0.35);
  EXPECT_LT(local("4", 0), local("4", 1));
  EXPECT_LT(local("4", 1), 0.75);
}

// Options.

LocalSetup chosen(const LocalOptions& options, const char* net = "resnet20") {
  check_local(options, {});
  return choose_stages(options, fuse(find_net(net).make(square_images(32))), square_images(32));
}

TEST(ChooseStages, TakesNumbersAndNames) {
  EXPECT_THAT(chosen({.updates = "greedy", .stages = "layer1,layer2.1"}).ends,
              ElementsAre("layer1.2.relu2", "layer2.1.relu2"));
  EXPECT_THAT(chosen({.updates = "greedy", .stages = " layer1, layer2.1 "}).ends,
              ElementsAre("layer1.2.relu2", "layer2.1.relu2"));
  EXPECT_EQ(chosen({.updates = "greedy", .stages = "layer1"}).head, "mlp-sr");
  EXPECT_EQ(chosen({.updates = "greedy", .stages = "3"}).ends.size(), 2U);
  EXPECT_EQ(chosen({.updates = "greedy", .stages = "11"}).ends.size(), 10U);
  EXPECT_EQ(chosen({}).updates, "");
}

TEST(ChooseStages, BalancesWhatIsAskedFor) {
  // Values are largest where images are. All blocks of a resnet20 have the same number of
  // multiply-adds.
  const auto time = chosen({.updates = "greedy", .stages = "2", .head = "linear"});
  const auto memory =
      chosen({.updates = "greedy", .stages = "2", .balance = "memory", .head = "linear"});
  EXPECT_THAT(time.ends, ElementsAre("layer2.0.relu2"));
  EXPECT_THAT(memory.ends, ElementsAre("layer1.2.relu2"));
}

// Two neighbours are in memory at a time. Of three stages of a resnet20, the middle one is in both
// pairs.
TEST(ChooseStages, BalancesTheMemoryOfNeighbours) {
  const auto ends = [](const char* updates, const char* balance) {
    return chosen({.updates = updates, .stages = "3", .balance = balance, .head = "linear"}).ends;
  };
  EXPECT_THAT(ends("greedy", "memory"), ElementsAre("layer1.1.relu2", "layer2.0.relu2"));
  EXPECT_THAT(ends("overlapping", "memory"), ElementsAre("layer1.1.relu2", "layer1.2.relu2"));
  EXPECT_EQ(ends("overlapping", "time"), ends("greedy", "time"));
}

TEST(ChooseStages, SaysWhatIsWrong) {
  const auto refuses = [](const LocalOptions& options, const char* words,
                          const LossOptions& loss = {}) {
    EXPECT_THAT(
        [&] {
          check_local(options, loss);
          chosen(options);
        },
        testing::ThrowsMessage<UsageError>(HasSubstr(words)))
        << words;
  };
  refuses({.stages = "2"}, "--stages cuts the net for --local; add --local");
  refuses({.head = "linear"}, "--local-head chooses heads for --local; add --local");
  refuses({.head = "mlp-sr"}, "--local-head chooses heads for --local; add --local");
  refuses({.balance = "memory"}, "--balance cuts the net for --local; add --local");
  refuses({.balance = "time"}, "--balance cuts the net for --local; add --local");
  refuses({.updates = "greedy", .stages = "layer1", .balance = "time"}, "leave out --balance");
  refuses({.updates = "best", .stages = "2"}, "neither greedy nor overlapping");
  refuses({.updates = "greedy"}, "needs stages");
  refuses({.updates = "greedy", .stages = "1"}, "plain backpropagation");
  refuses({.updates = "greedy", .stages = "0"}, "plain backpropagation");
  refuses({.updates = "greedy", .stages = "12"},
          "at most 11 stages; the places are relu, layer1.0");
  refuses({.updates = "greedy", .stages = "99999999999999999999"}, "at most 11 stages");
  refuses({.updates = "greedy", .stages = "layer1.0.conv1"}, "the nearest is layer1.0.relu2");
  refuses({.updates = "greedy", .stages = "layer2,layer1"}, "layer1 does not come after");
  refuses({.updates = "greedy", .stages = "layer1,layer1"}, "layer1 does not come after");
  refuses({.updates = "greedy", .stages = "layer1, "}, "no stage can end at ''");
  refuses({.updates = "greedy", .stages = "2", .balance = "speed"}, "neither time nor memory");
  refuses({.updates = "greedy", .stages = "2", .head = "cnn"}, "unknown local head");
  refuses({.updates = "greedy", .stages = "2"}, "uses none", {.name = "barlow_twins"});
}

}  // namespace winnow::train::local_updates_test
