#include "train/backend/reference/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <utility>

#include "common/rng.h"
#include "tests/train/cases.h"
#include "tests/train/run_operation.h"
#include "train/backend/reference/interpret.h"
#include "train/graph/reference.h"
#include "train/nets/nets.h"
#include "train/ops/batch_norm.h"
#include "train/ops/conv2d.h"
#include "train/ops/elementwise.h"
#include "train/ops/linear.h"
#include "train/ops/normalize_input.h"
#include "train/ops/operations.h"
#include "train/ops/pooling.h"
#include "train/ops/softmax_cross_entropy.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train::reference_test {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;
using Numbers = std::vector<double>;

std::size_t position(ValueId id) { return static_cast<std::size_t>(id); }

TEST(OpCases, CoverEveryOperationUnderUniqueNames) {
  std::set<const Operation*> seen;
  std::set<std::string> names;
  for (const OpCase& made : op_cases()) {
    ASSERT_EQ(made.graph.nodes.size(), 1U) << made.name;
    seen.insert(made.graph.nodes[0].op);
    EXPECT_TRUE(names.insert(made.name).second) << made.name << " occurs twice";
    EXPECT_EQ(made.outputs, made.graph.nodes[0].outputs) << made.name;
    const auto values = interpret(made.graph, made.inputs);
    for (const ValueId id : made.outputs) {
      EXPECT_TRUE(std::ranges::all_of(values[position(id)], [](double x) {
        return std::isfinite(x);
      })) << made.name;
    }
  }
  for (const Operation* op : operations()) EXPECT_TRUE(seen.contains(op)) << op->name;
}

// Results worked out by hand.

ConvAttributes conv_attributes(int stride, int pad, bool bias = false) {
  ConvAttributes attributes;
  attributes.axes = both_axes(stride, pad);
  attributes.bias = bias;
  return attributes;
}

TEST(Interpret, ConvolutionCorrelatesAndPadsWithZeros) {
  const Given x = {{1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}};
  const Given w = {{1, 1, 2, 2}, {1, 2, 3, 4}};
  EXPECT_THAT(outputs_of(kConv2d, {x, w}, conv_attributes(1, 0))[0], ElementsAre(37, 47, 67, 77));
  EXPECT_THAT(outputs_of(kConv2d, {x, w}, conv_attributes(2, 1))[0], ElementsAre(4, 18, 36, 77));
  EXPECT_THAT(outputs_of(kConv2d, {x, w, {{1}, {0.5}}}, conv_attributes(1, 0, true))[0],
              ElementsAre(37.5, 47.5, 67.5, 77.5));
}

// Data is stored channels last, filters channels first.
TEST(Interpret, DataIsNhwcAndFiltersAreLogical) {
  const Given x = {{1, 2, 1, 2}, {1, 10, 2, 20}};
  const double sum = 1 * 1 + 2 * 2 + 3 * 10 + 4 * 20;
  const Given filters = {{2, 2, 1, 2}, {1, 2, 3, 4, -1, -2, -3, -4}};
  EXPECT_THAT(outputs_of(kConv2d, {x, filters}, conv_attributes(1, 0))[0], ElementsAre(sum, -sum));
  const Given weight = {{2, 4}, {1, 2, 3, 4, -1, -2, -3, -4}};
  EXPECT_THAT(outputs_of(kLinear, {x, weight}, LinearAttributes{})[0], ElementsAre(sum, -sum));
  const Given dy = {{1, 1}, {1}};
  EXPECT_THAT(outputs_of(kLinearBackwardWeight, {x, dy}, LinearAttributes{})[0],
              ElementsAre(1, 2, 10, 20));
  const LinearAttributes to_image{false, {1, 2, 1, 2}};
  EXPECT_THAT(outputs_of(kLinearBackwardData, {dy, {{1, 4}, {1, 2, 3, 4}}}, to_image)[0],
              ElementsAre(1, 3, 2, 4));
}

PoolAttributes pool_attributes(int kernel, int stride, int pad) {
  PoolAttributes attributes;
  attributes.kernel_h = attributes.kernel_w = kernel;
  attributes.stride = stride;
  attributes.pad = pad;
  return attributes;
}

TEST(Interpret, MaxPoolingIgnoresPaddingAndTakesTheFirstOfEquals) {
  const Given negative = {{1, 1, 2, 2}, {-1, -1, -3, -2}};
  const auto padded = outputs_of(kMaxPool, {negative}, pool_attributes(3, 2, 1));
  EXPECT_THAT(padded[0], ElementsAre(-1));
  EXPECT_THAT(padded[1], ElementsAre(4));
  const Given wide = {{1, 1, 2, 4}, {0, 2, 5, 5, 2, 1, 5, 7}};
  const auto pooled = outputs_of(kMaxPool, {wide}, pool_attributes(2, 2, 0));
  EXPECT_THAT(pooled[0], ElementsAre(2, 7));
  EXPECT_THAT(pooled[1], ElementsAre(1, 3));
}

TEST(Interpret, MaximaOfSeveralWindowsGetTheGradientsOfAll) {
  PoolAttributes pool = pool_attributes(1, 1, 0);
  pool.kernel_w = 2;
  pool.data_shape = {1, 1, 1, 3};
  const Given dy = {{1, 1, 1, 2}, {2, 3}};
  const Given index = {{1, 1, 1, 2}, {1, 0}, Storage::kU8};
  EXPECT_THAT(outputs_of(kMaxPoolBackward, {dy, index}, pool)[0], ElementsAre(0, 5, 0));
}

TEST(Interpret, AveragePoolingCountsPadding) {
  const Given x = {{1, 1, 2, 2}, {9, 18, 27, 36}};
  EXPECT_THAT(outputs_of(kAvgPool, {x}, pool_attributes(3, 2, 1))[0],
              ElementsAre(DoubleNear(10, 1e-12)));
}

TEST(Interpret, BatchNormUsesBiasedVariance) {
  const Given x = {{2, 2, 1, 1}, {1, 10, 3, 20}};
  const Given scale = {{2}, {2, 1}};
  const Given shift = {{2}, {1, 0}};
  const double epsilon = 1e-3;
  const auto y = outputs_of(kBatchNorm, {x, scale, shift}, NormAttributes{epsilon});
  const double a = 2 / std::sqrt(1 + epsilon);
  const double b = 5 / std::sqrt(25 + epsilon);
  EXPECT_THAT(y[0], Pointwise(DoubleNear(1e-12), Numbers{1 - a, -b, 1 + a, b}));
  EXPECT_THAT(y[1], ElementsAre(2, 15));
  EXPECT_THAT(y[2], ElementsAre(1, 25));

  const Given residual = {{2, 2, 1, 1}, {0, 0.5, -9, 0}};
  const auto fused =
      outputs_of(kBatchNorm, {x, scale, shift, residual}, NormAttributes{epsilon, true, true});
  EXPECT_THAT(fused[0], Pointwise(DoubleNear(1e-12), Numbers{0, 0, 0, b}));

  const Given mean = {{2}, {1, 15}};
  const Given variance = {{2}, {4 - epsilon, 25}};
  const auto running =
      outputs_of(kBatchNormInference, {x, scale, shift, mean, variance}, NormAttributes{epsilon});
  EXPECT_THAT(running[0], Pointwise(DoubleNear(1e-12), Numbers{1, -b, 3, b}));
}

// Two classes with probabilities 1/3 and 2/3; logits too large for exp; targets that sum to 2.
TEST(Interpret, CrossEntropyOfSmoothedTargets) {
  const double ln2 = std::numbers::ln2;
  const Given logits = {{3, 2}, {0, ln2, 1000, 1000, 0, ln2}};
  const Given targets = {{3, 2}, {0, 1, 0.5, 0.5, 0.5, 1.5}};
  const Given weights = {{3}, {2, 0.25, 1}};
  const LossAttributes smoothing{0.2};
  const double ln3 = std::log(3.0);
  const double first = 0.1 * ln3 + 0.9 * (ln3 - ln2);
  const double third = 0.6 * ln3 + 1.4 * (ln3 - ln2);
  const auto y = outputs_of(kSoftmaxCrossEntropy, {logits, targets, weights}, smoothing);
  EXPECT_THAT(y[1], Pointwise(DoubleNear(1e-12), Numbers{first, ln2, third}));
  EXPECT_THAT(y[0], ElementsAre(DoubleNear(2 * first + 0.25 * ln2 + third, 1e-12)));
  const auto d = outputs_of(kSoftmaxCrossEntropyBackward, {logits, targets, weights}, smoothing);
  EXPECT_THAT(d[0], Pointwise(DoubleNear(1e-12), Numbers{2 * (1.0 / 3 - 0.1), 2 * (2.0 / 3 - 0.9),
                                                         0, 0, 2.0 / 3 - 0.6, 4.0 / 3 - 1.4}));
}

TEST(Interpret, NormalizesPixels) {
  const Given pixels = {{1, 2, 1, 1}, {255, 51}, Storage::kU8};
  EXPECT_THAT(
      outputs_of(kNormalizeInput, {pixels}, NormalizeAttributes{{0.5F, 0}, {0.25F, 0.5F}})[0],
      Pointwise(DoubleNear(1e-12), Numbers{2, 0.4}));
}

TEST(Interpret, RefusesMissingAndMisshapenInputs) {
  OpCase made = op_cases().front();
  const ValueId w = made.graph.find("w");
  const Numbers filter = made.inputs[w];
  made.inputs[w].pop_back();
  EXPECT_THAT([&] { interpret(made.graph, made.inputs); },
              testing::ThrowsMessage<ShapeError>(HasSubstr("'w' is given 107 numbers")));
  made.inputs.erase(w);
  EXPECT_THAT([&] { interpret(made.graph, made.inputs); },
              testing::ThrowsMessage<ShapeError>(HasSubstr("'w', which 'y' reads")));
  made.inputs[w] = filter;
  made.inputs[made.outputs[0]] = {};
  EXPECT_THROW(interpret(made.graph, made.inputs), ShapeError);
}

// <y(x, w), dy> = <x, dx(dy, w)> = <w, dw(x, dy)>: the three operations are one trilinear form.

double dot(const Numbers& a, const Numbers& b) {
  EXPECT_EQ(a.size(), b.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

Numbers random_numbers(std::size_t size, std::uint64_t id) {
  CounterRng rng(2, 0, id, RandomUse::kTest);
  Numbers numbers(size);
  for (double& number : numbers) number = 2 * rng.uniform() - 1;
  return numbers;
}

TEST(Reference, BackwardProductsAreAdjoint) {
  int checked = 0;
  for (const OpCase& made : op_cases()) {
    const Node& node = made.graph.nodes[0];
    const bool linear = node.op == &kLinearBackwardData || node.op == &kLinearBackwardWeight;
    const bool data = node.op == &kConv2dBackwardData || node.op == &kLinearBackwardData;
    const bool filter = node.op == &kConv2dBackwardFilter || node.op == &kLinearBackwardWeight;
    if (!data && !filter) continue;
    SCOPED_TRACE(made.name);
    ++checked;
    const Numbers& dy = made.inputs.at(node.inputs[data ? 0 : 1]);
    const ValueId kept = node.inputs[data ? 1 : 0];
    const ValueId of = node.outputs[0];
    const Numbers gradient = interpret(made.graph, made.inputs)[position(of)];
    const Numbers argument = random_numbers(gradient.size(), position(of));
    Given x = {made.graph.value(kept).shape, made.inputs.at(kept)};
    Given w = {made.graph.value(of).shape, argument};
    if (data) std::swap(x, w);
    Attributes attributes;
    if (linear) {
      attributes = LinearAttributes{};
    } else {
      auto of_conv = attributes_of<ConvAttributes>(node);
      of_conv.bias = false;
      attributes = of_conv;
    }
    const Numbers y = outputs_of(linear ? kLinear : kConv2d, {x, w}, attributes)[0];
    EXPECT_NEAR(dot(y, dy), dot(argument, gradient), 1e-12 * static_cast<double>(y.size()));
  }
  EXPECT_GE(checked, 30);
}

// Gradients against finite differences.

// The side of each kink that a graph is on: signs behind ReLUs, positions of maxima.
Numbers sides(const Graph& graph, std::vector<Numbers> values) {
  Numbers found;
  for (const Node& node : graph.nodes) {
    const auto of_operation = node.op->checks.sides;
    if (of_operation != nullptr) of_operation(ReferenceOperands(graph, node, values), found);
  }
  return found;
}

// The loss along a line through `inputs`, and its derivative from five points. `smooth` is false if
// the line meets a kink between them.
struct Derivative {
  double value = 0;
  bool smooth = true;
};
Derivative derivative_along(const Graph& graph, ValueId loss,
                            const std::map<ValueId, Numbers>& inputs,
                            const std::map<ValueId, Numbers>& direction, double step) {
  const Numbers here = sides(graph, interpret(graph, inputs));
  Derivative derivative;
  for (const auto& [offset, factor] : {std::pair{2, -1}, {1, 8}, {-1, -8}, {-2, 1}}) {
    auto moved = inputs;
    for (const auto& [id, by] : direction) {
      for (std::size_t i = 0; i < by.size(); ++i) moved[id][i] += offset * step * by[i];
    }
    const auto values = interpret(graph, moved);
    derivative.value += factor * values[position(loss)][0] / (12 * step);
    derivative.smooth = derivative.smooth && sides(graph, values) == here;
  }
  return derivative;
}

ValueId loss_of(const Graph& graph) {
  for (const Output& output : graph.outputs) {
    if (output.kind == OutputKind::kLoss) return output.value;
  }
  throw Error("no loss");
}

// The operation of a case, followed by a linear layer and a loss. Everything it reads is a
// parameter.
struct Probe {
  Graph graph;
  std::map<ValueId, Numbers> inputs;
};
Probe make_probe(const OpCase& made) {
  Probe probe{made.graph, made.inputs};
  probe.graph.outputs.clear();
  const bool is_loss = made.graph.value(made.outputs[0]).shape == Shape{1};
  for (Value& value : probe.graph.values) {
    const bool constant = value.kind == ValueKind::kComputed || value.name == "targets" ||
                          value.name == "weights" || value.name == "keys";
    if (!constant) value.kind = ValueKind::kParameter;
  }
  // Move the values off the multiples of 1/128, where ties and zeros lie.
  for (auto& [id, numbers] : probe.inputs) {
    if (probe.graph.value(id).kind != ValueKind::kParameter) continue;
    const Numbers noise = random_numbers(numbers.size(), position(id));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += noise[i] / 300;
  }
  ValueId loss = made.outputs[0];
  if (!is_loss) {
    const auto leaf = [&](std::string name, Shape shape, ValueKind kind, Numbers numbers) {
      Value value;
      value.name = std::move(name);
      value.shape = std::move(shape);
      value.kind = kind;
      value.storage = Storage::kF32;
      const ValueId id = add_value(probe.graph, value);
      probe.inputs[id] = std::move(numbers);
      return id;
    };
    const Shape y = probe.graph.value(made.outputs[0]).shape;
    const std::int64_t features = element_count(y) / y[0];
    const auto n = static_cast<std::size_t>(y[0]);
    const ValueId w = leaf("probe.weight", {3, features}, ValueKind::kParameter,
                           random_numbers(static_cast<std::size_t>(3 * features), 77));
    Numbers targets(3 * n, 0);
    for (std::size_t i = 0; i < n; ++i) targets[3 * i + i % 3] = 1;
    const ValueId logits =
        add_node(probe.graph, kLinear, "probe", {made.outputs[0], w}, LinearAttributes{})[0];
    loss = add_node(probe.graph, kSoftmaxCrossEntropy, "loss",
                    {logits, leaf("targets", {y[0], 3}, ValueKind::kInput, targets),
                     leaf("weights", {y[0]}, ValueKind::kInput, Numbers(n, 0.5))},
                    LossAttributes{})[0];
  }
  probe.graph.outputs.push_back({OutputKind::kLoss, loss, -1, 0});
  return probe;
}

TEST(Gradients, OfEveryOperationAreThoseOfFiniteDifferences) {
  int operations = 0;
  for (const OpCase& made : op_cases()) {
    if (made.graph.nodes[0].op->gradient == nullptr) continue;
    SCOPED_TRACE(made.name);
    ++operations;
    const Probe probe = make_probe(made);
    const Graph trained = differentiate(probe.graph);
    const auto values = interpret(trained, probe.inputs);
    const ValueId loss = loss_of(probe.graph);
    std::set<ValueId> have_gradient;
    int checked = 0;
    int skipped = 0;
    for (const Output& output : trained.outputs) {
      if (output.kind != OutputKind::kGradient) continue;
      have_gradient.insert(output.of);
      const Numbers& gradient = values[position(output.value)];
      ASSERT_EQ(gradient.size(), probe.inputs.at(output.of).size());
      CounterRng rng(3, 0, position(output.of), RandomUse::kTest);
      for (int sample = 0; sample < 24; ++sample) {
        const std::size_t i = rng.below(static_cast<std::uint32_t>(gradient.size()));
        Numbers direction(gradient.size(), 0);
        direction[i] = 1;
        const Derivative numeric =
            derivative_along(probe.graph, loss, probe.inputs, {{output.of, direction}}, 3e-4);
        ++(numeric.smooth ? checked : skipped);
        if (!numeric.smooth) continue;
        EXPECT_NEAR(gradient[i], numeric.value, 1e-6 * std::abs(gradient[i]) + 1e-9)
            << "element " << i << " of " << trained.value(output.of).name;
      }
    }
    EXPECT_EQ(have_gradient.size(), probe.graph.of_kind(ValueKind::kParameter).size());
    EXPECT_GT(checked, 4 * skipped);
  }
  EXPECT_GE(operations, 60);
}

TEST(Gradients, OfWholeNetsAreThoseOfFiniteDifferences) {
  struct Case {
    const char* net;
    int side_px;
    std::int64_t batch;
    const char* loss;
  };
  for (const auto& [name, side_px, batch, loss] :
       {Case{"lenet", 16, 3, "cross_entropy"}, Case{"resnet20", 8, 3, "cross_entropy"},
        Case{"lenet", 16, 6, "barlow_twins"}}) {
    SCOPED_TRACE(name);
    NetOptions options;
    options.batch = batch;
    options.loss.name = loss;
    options.height_px = options.width_px = side_px;
    options.mean = {0.4F, 0.5F, 0.6F};
    options.stddev = {0.2F, 0.25F, 0.3F};
    options.loss.label_smoothing = 0.1;
    const Graph forward = find_net(name).make(options);
    const auto inputs = random_inputs(forward, 11);
    const Graph trained = differentiate(fuse(forward));
    std::map<ValueId, Numbers> trained_inputs;
    for (const auto& [id, numbers] : inputs)
      trained_inputs[trained.find(forward.value(id).name)] = numbers;
    const auto values = interpret(trained, trained_inputs);
    int checked = 0;
    for (std::uint64_t attempt = 0; attempt < 3; ++attempt) {
      std::map<ValueId, Numbers> direction;
      double analytic = 0;
      for (const Output& output : trained.outputs) {
        if (output.kind != OutputKind::kGradient) continue;
        const Numbers& gradient = values[position(output.value)];
        const ValueId parameter = forward.find(trained.value(output.of).name);
        direction[parameter] = random_numbers(gradient.size(), 100 * attempt + position(parameter));
        analytic += dot(gradient, direction[parameter]);
      }
      EXPECT_EQ(direction.size(), forward.of_kind(ValueKind::kParameter).size());
      const Derivative numeric =
          derivative_along(forward, loss_of(forward), inputs, direction, 1e-7);
      if (!numeric.smooth) continue;
      ++checked;
      EXPECT_NEAR(analytic, numeric.value, 1e-6 * std::abs(analytic));
    }
    EXPECT_GE(checked, 1);
  }
}

TEST(Backends, AreFoundByName) {
  for (const BackendRow& row : backends()) {
    try {
      EXPECT_EQ(make_backend(row.name)->name(), row.name);
    } catch (const UsageError&) {
      throw;
    } catch (const Error& error) {  // without a card
      EXPECT_EQ(row.name, "cudnn");
      EXPECT_THAT(error.what(), HasSubstr("CUDA"));
      EXPECT_THAT(error.what(), HasSubstr("--backend onednn"));
    }
  }
  EXPECT_THAT([] { make_backend("cudnn2"); },
              testing::ThrowsMessage<UsageError>(HasSubstr("onednn, cudnn, reference")));
}

// The interpreter as a backend.

struct Memory {
  std::map<ValueId, std::vector<float>> floats;
  std::map<ValueId, std::vector<std::uint8_t>> bytes;
};
Memory bind_all(Program& program, const std::map<ValueId, Numbers>& inputs) {
  Memory memory;
  const auto bind = [&](ValueId id, const Numbers& numbers) {
    if (program.graph().value(id).storage == Storage::kU8) {
      memory.bytes[id].assign(numbers.begin(), numbers.end());
      program.bind(id, std::span<std::uint8_t>(memory.bytes[id]));
    } else {
      for (const double number : numbers) memory.floats[id].push_back(static_cast<float>(number));
      program.bind(id, std::span<float>(memory.floats[id]));
    }
  };
  for (const auto& [id, numbers] : inputs) bind(id, numbers);
  for (const Output& output : program.graph().outputs) {
    const auto size =
        static_cast<std::size_t>(element_count(program.graph().value(output.value).shape));
    bind(output.value, Numbers(size, 0));
  }
  return memory;
}

TEST(ReferenceProgram, WritesWhatTheInterpreterComputes) {
  const auto backend = make_reference_backend();
  for (const OpCase& made : op_cases()) {
    SCOPED_TRACE(made.name);
    const auto program = backend->compile(made.graph, {});
    const Memory memory = bind_all(*program, made.inputs);
    program->load_parameters();
    program->run(0, 1);
    const auto values = interpret(made.graph, made.inputs);
    for (const ValueId id : made.outputs) {
      const Numbers& want = values[position(id)];
      if (made.graph.value(id).storage == Storage::kU8) {
        EXPECT_TRUE(std::ranges::equal(memory.bytes.at(id), want));
      } else {
        EXPECT_TRUE(std::ranges::equal(memory.floats.at(id), want, [](float a, double b) {
          return a == static_cast<float>(b);
        }));
      }
    }
  }
}

Graph lenet() {
  NetOptions options;
  options.batch = 2;
  options.channels = 1;
  options.height_px = options.width_px = 16;
  options.mean = {0.5F};
  options.stddev = {0.25F};
  return differentiate(find_net("lenet").make(options));
}

TEST(ReferenceProgram, RunsInRangesAndTakesUpNewInputsAndParameters) {
  const Graph graph = lenet();
  const auto program = make_reference_backend()->compile(graph, {});
  auto inputs = random_inputs(graph, 4);
  Memory memory = bind_all(*program, inputs);
  program->load_parameters();
  for (int step = 0; step < 2; ++step) {
    for (std::size_t i = 0; i < graph.nodes.size(); i += 3) {
      program->run(i, std::min(i + 3, graph.nodes.size()));
    }
    const auto values = interpret(graph, inputs);
    for (const Output& output : graph.outputs) {
      EXPECT_TRUE(std::ranges::equal(memory.floats[output.value], values[position(output.value)],
                                     [](float a, double b) { return a == static_cast<float>(b); }));
    }
    const ValueId pixels = graph.find("pixels");
    const ValueId weight = graph.find("conv1.weight");
    inputs[pixels][7] = 3;
    memory.bytes[pixels][7] = 3;
    inputs[weight][5] = 0.75;
    memory.floats[weight][5] = 0.75F;
    program->load_parameters();
  }
}

TEST(ReferenceProgram, RefusesWhatWouldGoWrong) {
  const Graph graph = lenet();
  const auto program = make_reference_backend()->compile(graph, {});
  EXPECT_GT(program->arena_bytes(), 0U);
  std::vector<float> floats(7);
  std::vector<std::uint8_t> bytes(2 * 16 * 16);
  const auto says = [](const char* words) {
    return testing::ThrowsMessage<Error>(HasSubstr(words));
  };
  EXPECT_THAT([&] { program->bind(graph.find("targets"), floats); }, says("got 7 elements"));
  EXPECT_THAT([&] { program->bind(graph.find("pixels"), floats); }, says("consists of bytes"));
  EXPECT_THAT([&] { program->bind(graph.find("targets"), bytes); }, says("consists of floats"));
  EXPECT_THAT([&] { program->bind(graph.find("conv1"), floats); }, says("neither an input"));
  EXPECT_THAT([&] { program->bind(9999, floats); }, says("%9999"));
  EXPECT_THAT([&] { program->run(0, 1); }, says("load_parameters"));
  program->load_parameters();
  EXPECT_THAT([&] { program->run(0, 1); }, says("not bound"));
  const Memory memory = bind_all(*program, random_inputs(graph, 4));
  program->load_parameters();
  program->run(0, 2);
  EXPECT_THAT([&] { program->run(3, 4); }, says("the next range begins at 2"));
  EXPECT_THAT([&] { program->run(2, 1000); }, says("up to 1000"));
}

}  // namespace winnow::train::reference_test
