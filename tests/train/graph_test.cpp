#include "train/graph/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "train/ops/batch_norm.h"
#include "train/ops/conv2d.h"
#include "train/ops/elementwise.h"
#include "train/ops/linear.h"
#include "train/ops/normalize_input.h"
#include "train/ops/operations.h"
#include "train/ops/pooling.h"
#include "train/ops/softmax_cross_entropy.h"

namespace winnow::train::graph_test {

using testing::ElementsAre;
using testing::HasSubstr;

ValueId leaf(Graph& graph, std::string name, Shape shape, ValueKind kind = ValueKind::kInput,
             Storage storage = Storage::kCompute) {
  Value value;
  value.name = std::move(name);
  value.shape = std::move(shape);
  value.kind = kind;
  value.storage = storage;
  return add_value(graph, std::move(value));
}

ConvAttributes conv_attributes(int stride, int pad, bool bias = false) {
  ConvAttributes attributes;
  attributes.axes = both_axes(stride, pad);
  attributes.bias = bias;
  return attributes;
}

TEST(Infer, ConvolutionRoundsDownAndCountsPadding) {
  Graph graph;
  const ValueId x = leaf(graph, "x", {2, 3, 8, 9});
  const ValueId w = leaf(graph, "w", {5, 3, 3, 3}, ValueKind::kParameter, Storage::kF32);
  const auto y = add_node(graph, kConv2d, "c", {x, w}, conv_attributes(2, 1));
  ASSERT_EQ(y.size(), 1U);
  EXPECT_THAT(graph.value(y[0]).shape, ElementsAre(2, 5, 4, 5));
  EXPECT_EQ(graph.value(y[0]).storage, Storage::kCompute);
  EXPECT_EQ(graph.value(y[0]).kind, ValueKind::kComputed);
  EXPECT_EQ(graph.value(y[0]).name, "c");
}

TEST(Infer, GradientsOfParametersAndStatisticsAreF32) {
  Graph graph;
  const ValueId x = leaf(graph, "x", {2, 3, 4, 4});
  const ValueId dy = leaf(graph, "dy", {2, 5, 4, 4});
  auto filter = conv_attributes(1, 1, true);
  filter.filter_shape = {5, 3, 3, 3};
  const auto dw = add_node(graph, kConv2dBackwardFilter, "f", {x, dy}, filter);
  ASSERT_EQ(dw.size(), 2U);
  EXPECT_THAT(graph.value(dw[0]).shape, ElementsAre(5, 3, 3, 3));
  EXPECT_THAT(graph.value(dw[1]).shape, ElementsAre(5));
  EXPECT_EQ(graph.value(dw[0]).storage, Storage::kF32);
  EXPECT_EQ(graph.value(dw[1]).storage, Storage::kF32);

  const ValueId c = leaf(graph, "c", {3}, ValueKind::kParameter, Storage::kF32);
  const auto norm = add_node(graph, kBatchNorm, "n", {x, c, c}, NormAttributes{});
  EXPECT_EQ(graph.value(norm[0]).storage, Storage::kCompute);
  EXPECT_EQ(graph.value(norm[1]).storage, Storage::kF32);
  EXPECT_EQ(graph.value(norm[2]).name, "n.variance");

  const auto sum = add_node(graph, kAdd, "s", {dw[0], dw[0]});
  EXPECT_EQ(graph.value(sum[0]).storage, Storage::kF32);
  const auto activations = add_node(graph, kAdd, "a", {norm[0], norm[0]});
  EXPECT_EQ(graph.value(activations[0]).storage, Storage::kCompute);
}

TEST(Infer, MaxPoolingKeepsAByteForEachWindow) {
  Graph graph;
  const ValueId x = leaf(graph, "x", {1, 2, 7, 8});
  PoolAttributes pool;
  pool.kernel_h = 3;
  pool.kernel_w = 3;
  pool.stride = 2;
  pool.pad = 1;
  const auto y = add_node(graph, kMaxPool, "p", {x}, pool);
  EXPECT_THAT(graph.value(y[0]).shape, ElementsAre(1, 2, 4, 4));
  EXPECT_THAT(graph.value(y[1]).shape, ElementsAre(1, 2, 4, 4));
  EXPECT_EQ(graph.value(y[1]).storage, Storage::kU8);
}

TEST(Infer, LinearTakesImagesFlattened) {
  Graph graph;
  const ValueId x = leaf(graph, "x", {4, 3, 2, 5});
  const ValueId w = leaf(graph, "w", {7, 30}, ValueKind::kParameter, Storage::kF32);
  const auto y = add_node(graph, kLinear, "l", {x, w}, LinearAttributes{});
  EXPECT_THAT(graph.value(y[0]).shape, ElementsAre(4, 7));
}

// Every mistake is refused with a message that names the node and the mismatch.
TEST(Infer, RefusesWhatDoesNotFit) {
  Graph graph;
  const ValueId x = leaf(graph, "x", {2, 3, 8, 8});
  const ValueId bytes = leaf(graph, "bytes", {2, 3, 8, 8}, ValueKind::kInput, Storage::kU8);
  const ValueId w = leaf(graph, "w", {4, 3, 3, 3}, ValueKind::kParameter, Storage::kF32);
  const ValueId w4 = leaf(graph, "w4", {4, 4, 3, 3}, ValueKind::kParameter, Storage::kF32);
  const ValueId w9 = leaf(graph, "w9", {4, 3, 9, 9}, ValueKind::kParameter, Storage::kF32);
  const ValueId c3 = leaf(graph, "c3", {3}, ValueKind::kParameter, Storage::kF32);
  const ValueId c4 = leaf(graph, "c4", {4}, ValueKind::kParameter, Storage::kF32);
  const ValueId flat = leaf(graph, "flat", {2, 10});
  const ValueId lw = leaf(graph, "lw", {5, 11}, ValueKind::kParameter, Storage::kF32);
  const ValueId targets = leaf(graph, "targets", {2, 9}, ValueKind::kInput, Storage::kF32);
  const ValueId weights = leaf(graph, "weights", {2}, ValueKind::kInput, Storage::kF32);
  PoolAttributes wide_pad;
  wide_pad.kernel_h = wide_pad.kernel_w = 2;
  wide_pad.pad = 2;
  PoolAttributes large;
  large.kernel_h = large.kernel_w = 17;
  large.pad = 8;
  auto filter = conv_attributes(1, 1);
  filter.filter_shape = {4, 3, 3, 3};
  auto data = conv_attributes(1, 1);
  data.data_shape = {2, 3, 9, 9};
  NormAttributes residual;
  residual.residual = true;

  struct Bad {
    const Operation* op;
    std::vector<ValueId> inputs;
    Attributes attributes;
    const char* says;
  };
  const std::vector<Bad> bad = {
      {&kConv2d, {x, w4}, conv_attributes(1, 1), "is 4, wanted 3"},
      {&kConv2d, {x, w9}, conv_attributes(1, 0), "does not fit into 8"},
      {&kConv2d, {x, w}, conv_attributes(0, 0), "stride 0"},
      {&kConv2d, {x, w}, conv_attributes(1, -1), "pad -1"},
      {&kConv2d, {x, w, c3}, conv_attributes(1, 1, true), "(3), wanted (4)"},
      {&kConv2d, {x, w}, conv_attributes(1, 1, true), "takes 3 inputs, got 2"},
      {&kConv2d, {x, w, c4}, conv_attributes(1, 1), "takes 2 inputs, got 3"},
      {&kConv2d, {x, flat}, conv_attributes(1, 1), "is 10, wanted 3"},  // a filter of 1x1 windows
      {&kConv2d, {x, c3}, conv_attributes(1, 1), "filter (3) must have 4 extents"},
      {&kConv2d, {flat, w}, conv_attributes(1, 1), "'flat' has 2 extents"},
      {&kConv2d, {bytes, w}, conv_attributes(1, 1), "must not be bytes"},
      {&kConv2d, {x, w}, PoolAttributes{}, "attributes belong to another operation"},
      {&kConv2d, {x, 99}, conv_attributes(1, 1), "no value %99"},
      {&kConv2dBackwardFilter, {x, x}, filter, "(2, 3, 8, 8), wanted (2, 4, 8, 8)"},
      {&kConv2dBackwardData, {x, w}, data, "(2, 3, 8, 8), wanted (2, 4, 9, 9)"},
      {&kBatchNorm, {x, c3, c4}, NormAttributes{}, "'c4' is (4), wanted (3)"},
      {&kBatchNorm, {x, c3, c3, flat}, residual, "'flat' is (2, 10), wanted (2, 3, 8, 8)"},
      {&kBatchNorm, {x, c3, c3}, NormAttributes{0, false, false}, "epsilon"},
      {&kMaxPool, {x}, wide_pad, "pad 2 must be below"},
      {&kMaxPool, {x}, large, "256"},
      {&kLinear, {flat, lw}, LinearAttributes{}, "is 11, wanted 10"},
      {&kAdd, {x, flat}, {}, "(2, 10), wanted (2, 3, 8, 8)"},
      {&kRelu, {x}, NormAttributes{}, "attributes belong to another operation"},
      {&kNormalizeInput, {bytes}, NormalizeAttributes{{0.F}, {1.F}}, "means is 1, wanted 3"},
      {&kNormalizeInput, {bytes}, NormalizeAttributes{{0, 0, 0}, {1, 0, 1}}, "must be > 0"},
      {&kNormalizeInput, {x}, NormalizeAttributes{{0, 0, 0}, {1, 1, 1}}, "must be bytes"},
      {&kSoftmaxCrossEntropy, {flat, targets, weights}, LossAttributes{}, "(2, 9), wanted (2, 10)"},
      {&kSoftmaxCrossEntropy, {flat, flat, c3}, LossAttributes{}, "(3), wanted (2)"},
      {&kSoftmaxCrossEntropy, {flat, flat, weights}, LossAttributes{1}, "smoothing"},
  };
  for (const Bad& b : bad) {
    const Graph before = graph;
    try {
      add_node(graph, *b.op, "culprit", b.inputs, b.attributes);
      ADD_FAILURE() << op_name(b.op) << " was not refused: " << b.says;
    } catch (const ShapeError& error) {
      EXPECT_THAT(error.what(), HasSubstr(b.says));
      EXPECT_THAT(error.what(), HasSubstr("culprit"));
      EXPECT_THAT(error.what(), HasSubstr(std::string(op_name(b.op))));
    }
    EXPECT_EQ(to_text(graph), to_text(before));
  }
}

TEST(Operations, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const Operation* op : operations()) {
    EXPECT_TRUE(names.insert(op->name).second) << op->name << " occurs twice";
  }
}

TEST(Attributes, AreOfOneTypeAndCopiesAreApart) {
  EXPECT_TRUE(Attributes{}.empty());
  Attributes attributes = conv_attributes(2, 1);
  const Attributes copy = attributes;
  attributes = LinearAttributes{};
  ASSERT_NE(copy.find<ConvAttributes>(), nullptr);
  EXPECT_EQ(copy.find<ConvAttributes>()->axes.rows.stride, 2);
  EXPECT_EQ(attributes.find<ConvAttributes>(), nullptr);
  const Node node = {&kLinear, "fc", {}, {}, attributes};
  EXPECT_FALSE(attributes_of<LinearAttributes>(node).bias);
  EXPECT_THAT([&] { attributes_of<ConvAttributes>(node); },
              testing::ThrowsMessage<Error>(HasSubstr("linear 'fc'")));
}

TEST(AddValue, RefusesEmptyShapesAndComputedValues) {
  Graph graph;
  EXPECT_THROW(leaf(graph, "x", {2, 0}), ShapeError);
  EXPECT_THROW(leaf(graph, "x", {2, -1}), ShapeError);
  // Bytes and elements are counted in 64 bits, in some kernels in 32.
  EXPECT_THROW(leaf(graph, "x", {std::int64_t{1} << 60, 28, 28}), UsageError);
  EXPECT_THROW(leaf(graph, "x", {std::int64_t{1} << 32, std::int64_t{1} << 32}), UsageError);
  EXPECT_THROW(leaf(graph, "x", {1 << 16, 1 << 15}), UsageError);
  Graph large;
  EXPECT_NO_THROW(leaf(large, "x", {1 << 15, 1 << 15}));
  EXPECT_THROW(leaf(graph, "x", {2}, ValueKind::kComputed), ShapeError);
  EXPECT_TRUE(graph.values.empty());
}

Graph small_graph() {
  Graph graph;
  const ValueId x = leaf(graph, "x", {2, 3, 8, 8});
  Value weight;
  weight.name = "w";
  weight.shape = {5, 3, 3, 3};
  weight.kind = ValueKind::kParameter;
  weight.storage = Storage::kF32;
  weight.init = Init::kKaimingFanOut;
  weight.decay = true;
  const ValueId w = add_value(graph, weight);
  const ValueId y = add_node(graph, kConv2d, "c", {x, w}, conv_attributes(2, 1))[0];
  PoolAttributes pool;
  pool.kernel_h = pool.kernel_w = pool.stride = 2;
  const auto pooled = add_node(graph, kMaxPool, "p", {y}, pool);
  graph.outputs.push_back({OutputKind::kValue, pooled[0], -1, 0});
  graph.outputs.push_back({OutputKind::kGradient, y, w, 0});
  return graph;
}

TEST(ToText, IsALineEach) {
  EXPECT_EQ(to_text(small_graph()),
            "%0 = input 'x' compute -> (2,3,8,8)\n"
            "%1 = parameter 'w' f32 kaiming_fan_out decay -> (5,3,3,3)\n"
            "%2 = conv2d(%0, %1) stride=2 pad=1 -> (2,5,4,4)\n"
            "%3, %4 = max_pool(%2) kernel=2x2 stride=2 pad=0 -> (2,5,2,2), (2,5,2,2)\n"
            "value %3\n"
            "gradient %2 of 'w'\n");
}

TEST(Count, CountsMultiplyAddsAndBytes) {
  const Counts counts = count(small_graph());
  EXPECT_EQ(counts.parameters, 5 * 3 * 3 * 3);
  EXPECT_EQ(counts.flops, 2.0 * (2 * 5 * 4 * 4) * (3 * 3 * 3));
  // Convolution: x, w, y. Pooling: x, y, and one byte per window.
  EXPECT_EQ(counts.bytes, 4.0 * (384 + 135 + 160) + 4.0 * (160 + 40) + 40);
}

TEST(Count, BackwardOperationsCostWhatTheirForwardCosts) {
  Graph graph;
  const ValueId x = leaf(graph, "x", {2, 3, 9, 7});
  const ValueId w = leaf(graph, "w", {5, 3, 3, 3}, ValueKind::kParameter, Storage::kF32);
  auto conv = conv_attributes(2, 1);
  const ValueId y = add_node(graph, kConv2d, "c", {x, w}, conv)[0];
  const double forward = count(graph).flops;
  conv.data_shape = {2, 3, 9, 7};
  conv.filter_shape = {5, 3, 3, 3};
  add_node(graph, kConv2dBackwardFilter, "f", {x, y}, conv);
  EXPECT_EQ(count(graph).flops, 2 * forward);
  add_node(graph, kConv2dBackwardData, "d", {y, w}, conv);
  EXPECT_EQ(count(graph).flops, 3 * forward);

  Graph linear;
  const ValueId features = leaf(linear, "x", {4, 3, 2, 5});
  const ValueId weight = leaf(linear, "w", {7, 30}, ValueKind::kParameter, Storage::kF32);
  LinearAttributes attributes;
  const ValueId out = add_node(linear, kLinear, "l", {features, weight}, attributes)[0];
  EXPECT_EQ(count(linear).flops, 2.0 * 4 * 7 * 30);
  attributes.data_shape = {4, 3, 2, 5};
  add_node(linear, kLinearBackwardWeight, "f", {features, out}, attributes);
  add_node(linear, kLinearBackwardData, "d", {out, weight}, attributes);
  EXPECT_EQ(count(linear).flops, 3 * 2.0 * 4 * 7 * 30);
}

TEST(Graph, FindsByNameAndKind) {
  const Graph graph = small_graph();
  EXPECT_EQ(graph.find("w"), 1);
  EXPECT_EQ(graph.find("p.index"), 4);
  EXPECT_THAT(graph.of_kind(ValueKind::kComputed), ElementsAre(2, 3, 4));
  EXPECT_THAT([&] { graph.find("bn1"); }, testing::ThrowsMessage<Error>(HasSubstr("'bn1'")));
}

}  // namespace winnow::train::graph_test
