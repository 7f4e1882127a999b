#include "train/backend/onednn/onednn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "common/rng.h"
#include "tests/train/cases.h"
#include "tests/train/conformance.h"
#include "train/backend/onednn/kernels.h"
#include "train/backend/reference/interpret.h"
#include "train/nets/nets.h"
#include "train/ops/batch_norm.h"
#include "train/ops/conv2d.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train::onednn_test {

std::size_t position(std::int64_t i) { return static_cast<std::size_t>(i); }

bool can_bf16() { return make_onednn_backend()->instruction_set().starts_with("avx512"); }

struct Setting {
  DType compute;
  int threads;
};
constexpr Setting kSettings[] = {
    {DType::kF32, 1}, {DType::kF32, 2}, {DType::kBF16, 1}, {DType::kBF16, 2}};

class OneDnn : public testing::TestWithParam<Setting> {
 protected:
  void SetUp() override {
    if (GetParam().compute == DType::kBF16 && !can_bf16()) {
      GTEST_SKIP() << "bf16 needs a processor with AVX-512";
    }
  }
  CompileOptions options() const { return {GetParam().compute, GetParam().threads}; }
};
INSTANTIATE_TEST_SUITE_P(All, OneDnn, testing::ValuesIn(kSettings), [](const auto& info) {
  return std::string(dtype_name(info.param.compute)) + "_" + std::to_string(info.param.threads);
});

// Expects no row of the conformance table to be over its limit.
void expect_within(const std::vector<Deviation>& rows) {
  EXPECT_FALSE(rows.empty());
  for (const Deviation& row : rows) EXPECT_LE(row.error, row.limit) << row.what;
}

TEST_P(OneDnn, EveryOperationMatchesTheReference) {
  expect_within(compare_operations(*make_onednn_backend(), options()));
}

// Wider than in the table: whole vectors of channels, several of them, and a remainder.
TEST_P(OneDnn, NormsAndPoolsOfManyChannelsMatchTheReference) {
  expect_within(compare_wide_layers(*make_onednn_backend(), options()));
}

// A mean far from zero leaves few bits for the spread: a sum of squares would lose all of them.
TEST(OneDnnNorm, VarianceOfDataFarFromZeroIsKept) {
  Graph graph;
  const Shape shape = {8, 16, 16, 16};
  const ValueId x = add_value(graph, {"x", shape, ValueKind::kInput});
  const ValueId scale = add_value(graph, {"scale", {16}, ValueKind::kParameter, Storage::kF32});
  const ValueId shift = add_value(graph, {"shift", {16}, ValueKind::kParameter, Storage::kF32});
  const auto y = add_node(graph, kBatchNorm, "y", {x, scale, shift}, NormAttributes{});
  for (const ValueId id : y) graph.outputs.push_back({OutputKind::kValue, id});
  Inputs inputs;
  CounterRng rng(3, 0, 0, RandomUse::kTest);
  inputs[x].resize(position(element_count(shape)));
  // The first images are constant, so shifting by the first values would not help either.
  for (std::size_t i = 0; i < inputs[x].size(); ++i) {
    inputs[x][i] = i < inputs[x].size() / 2 ? 0 : 4096 + rng.below(3);
  }
  inputs[scale] = Numbers(16, 1.0);
  inputs[shift] = Numbers(16, 0.0);
  const auto want = interpret(graph, inputs);
  Running running(*make_onednn_backend(), graph, inputs, {DType::kF32, 1});
  running.run();
  for (const ValueId id : {y[1], y[2]}) {
    EXPECT_LE(relative_l2(running.numbers(id), want[position(id)]), 1e-6);
  }
}

// As few as a small image or a few tokens have, each with its own primitives.
TEST_P(OneDnn, ConvolutionsOfFewPixelsMatchTheReference) {
  for (std::int64_t pixels = 1; pixels <= 12; ++pixels) {
    Graph graph;
    const Shape shape = {2, 128, pixels, 1};
    const ValueId x = add_value(graph, {"x", shape, ValueKind::kInput});
    const ValueId w = add_value(graph, {"w", {128, 128}, ValueKind::kParameter, Storage::kF32});
    const ValueId dy = add_value(graph, {"dy", shape, ValueKind::kInput});
    ConvAttributes attributes;
    attributes.data_shape = shape;
    attributes.filter_shape = {128, 128};
    const Operation* ops[] = {&kConv2d, &kConv2dBackwardData, &kConv2dBackwardFilter};
    const std::vector<ValueId> operands[] = {{x, w}, {dy, w}, {x, dy}};
    for (std::size_t i = 0; i < 3; ++i) {
      const auto y = add_node(graph, *ops[i], std::string(ops[i]->name), operands[i], attributes);
      graph.outputs.push_back({OutputKind::kValue, y[0]});
    }
    const Inputs inputs = as_seen(graph, random_inputs(graph, 6), options().compute);
    const auto want = interpret(graph, inputs);
    Running running(*make_onednn_backend(), graph, inputs, options());
    running.run();
    for (const Output& output : graph.outputs) {
      EXPECT_LE(relative_l2(running.numbers(output.value), want[position(output.value)]),
                tolerance(options().compute))
          << graph.value(output.value).name << " of " << pixels << " pixels";
    }
  }
}

// One thread computes a whole head of a sample.
TEST(OneDnnAttention, ThreadsGiveTheSameBits) {
  for (const OpCase& made : op_cases()) {
    if (!made.name.starts_with("attention")) continue;
    for (const DType compute : {DType::kF32, DType::kBF16}) {
      if (compute == DType::kBF16 && !can_bf16()) continue;
      std::vector<Numbers> want;
      for (const int threads : {1, 2, 3}) {
        Running running(*make_onednn_backend(), made.graph, made.inputs, {compute, threads});
        running.run();
        if (threads == 1) want = running.outputs();
        EXPECT_EQ(running.outputs(), want) << made.name << ", " << threads << " threads";
      }
    }
  }
}

TEST_P(OneDnn, ValuesOfAnyStorageMayMeet) {
  expect_within(compare_storages(*make_onednn_backend(), options()));
}

TEST_P(OneDnn, WholeNetsMatchTheReference) {
  expect_within(compare_nets(*make_onednn_backend(), options()));
}

TEST_P(OneDnn, WideProductsMatchTheReference) {
  expect_within(compare_wide_products(*make_onednn_backend(), options()));
}

class OneDnnDeepNet : public testing::TestWithParam<NetCase> {};
INSTANTIATE_TEST_SUITE_P(All, OneDnnDeepNet, testing::ValuesIn(kDeepNets),
                         [](const auto& info) { return std::string(info.param.net); });

TEST_P(OneDnnDeepNet, MatchesTheReference) {
  DeepNet net(GetParam());
  for (const DType compute : {DType::kF32, DType::kBF16}) {
    if (compute == DType::kBF16 && !can_bf16()) continue;
    expect_within(net.deviations(*make_onednn_backend(), {compute, 2}));
  }
}

TEST_P(OneDnn, RunInRangesOrTwiceGivesTheSameBits) {
  const Graph graph = training_graph("resnet20", 3, 16, 3);
  const Inputs inputs = random_inputs(graph, 12);
  Running whole(*make_onednn_backend(), graph, inputs, options());
  whole.run();
  const auto want = whole.outputs();
  whole.run();
  EXPECT_EQ(whole.outputs(), want);

  Running parts(*make_onednn_backend(), graph, inputs, options());
  const std::size_t nodes = graph.nodes.size();
  for (const std::size_t cut : {nodes / 3, nodes / 2, nodes - 1}) {
    parts.program().run(0, cut);
    parts.program().run(cut, cut);
    parts.program().run(cut, nodes);
    EXPECT_EQ(parts.outputs(), want) << "cut at " << cut;
  }
}

TEST_P(OneDnn, NotANumberReachesTheLoss) {
  for (const NetCase& net : kConformanceNets) {
    const Graph graph = training_graph(net.net, net.batch, net.side, net.channels);
    Inputs inputs = random_inputs(graph, 13);
    inputs[graph.of_kind(ValueKind::kParameter).front()][0] = std::nan("");
    Running running(*make_onednn_backend(), graph, inputs, options());
    running.run();
    for (const Output& output : graph.outputs) {
      if (output.kind != OutputKind::kLoss) continue;
      EXPECT_TRUE(std::isnan(running.numbers(output.value)[0])) << net.net;
    }
  }
}

TEST_P(OneDnn, LoadedParametersAreWhatTheNextRunUses) {
  const Graph graph = training_graph("lenet", 2, 28, 1);
  const Inputs first = random_inputs(graph, 14);
  const Inputs second = random_inputs(graph, 15);
  Running changed(*make_onednn_backend(), graph, first, options());
  changed.run();
  for (const ValueId id : graph.of_kind(ValueKind::kParameter)) {
    std::ranges::copy(second.at(id), changed.floats(id).begin());
  }
  changed.program().load_parameters();
  changed.run();

  Inputs mixed = first;
  for (const ValueId id : graph.of_kind(ValueKind::kParameter)) mixed[id] = second.at(id);
  Running fresh(*make_onednn_backend(), graph, mixed, options());
  fresh.run();
  EXPECT_EQ(changed.outputs(), fresh.outputs());
}

TEST_P(OneDnn, MemoryBoundLaterIsUsed) {
  const Graph graph = training_graph("lenet", 2, 28, 1);
  const Inputs inputs = random_inputs(graph, 16);
  Running running(*make_onednn_backend(), graph, inputs, options());
  running.run();
  const auto want = running.outputs();
  std::map<ValueId, std::vector<float>> elsewhere;
  for (const Output& output : graph.outputs) {
    auto& memory = elsewhere[output.value];
    memory.assign(position(element_count(graph.value(output.value).shape)), 5.0F);
    running.program().bind(output.value, memory);
  }
  running.run();
  for (std::size_t i = 0; i < want.size(); ++i) {
    const auto& memory = elsewhere[graph.outputs[i].value];
    EXPECT_EQ(Numbers(memory.begin(), memory.end()), want[i]);
  }
}

// oneDNN keeps small lists of arguments while it runs a primitive, and must free them. The caches
// of malloc vary by a few bytes; one byte per node would exceed the limit.
TEST_P(OneDnn, StepsDoNotGrowTheHeap) {
  const Graph graph = training_graph("resnet20", 2, 16, 3);
  Running running(*make_onednn_backend(), graph, random_inputs(graph, 17), options());
  running.run();
  running.run();
  const auto before = mallinfo2();
  for (int i = 0; i < 30; ++i) {
    running.program().load_parameters();
    running.run();
  }
  const auto after = mallinfo2();
  EXPECT_LT(after.uordblks + after.hblkhd, before.uordblks + before.hblkhd + 2048);
}

TEST(OneDnnErrors, SayWhatIsWrong) {
  const Graph graph = training_graph("lenet", 2, 28, 1);
  const auto backend = make_onednn_backend();
  EXPECT_THROW(backend->compile(graph, {DType::kF32, 0}), UsageError);
  if (!can_bf16()) {
    EXPECT_THROW(backend->compile(graph, {DType::kBF16, 1}), UsageError);
  }

  const auto program = backend->compile(graph, {DType::kF32, 1});
  const ValueId pixels = graph.find("pixels");
  const ValueId weights = graph.find("weights");
  std::vector<float> two(2);
  std::vector<float> three(3);
  EXPECT_THROW(program->bind(weights, three), Error);
  EXPECT_THROW(program->bind(pixels, two), Error);
  EXPECT_THROW(program->bind(static_cast<ValueId>(graph.values.size()), two), Error);
  EXPECT_THROW(program->bind(-1, two), Error);
  EXPECT_THROW(program->load_parameters(), Error);
  EXPECT_THROW(program->run(0, graph.nodes.size()), Error);

  Running running(*make_onednn_backend(), graph, random_inputs(graph, 1), {DType::kF32, 1});
  EXPECT_THROW(running.program().run(1, 2), Error);
  EXPECT_THROW(running.program().run(0, graph.nodes.size() + 1), Error);
  running.program().run(0, 2);
  EXPECT_THROW(running.program().run(3, 4), Error);
  running.program().run(0, 1);
}

// The kernels of an instruction set on one batch norm, its backward pass and a pool: all bits of
// all results.
std::vector<std::uint32_t> bits_of_kernels(const kernels::Table& table, kernels::Element type,
                                           std::int64_t channels, int threads) {
  constexpr std::int64_t kRows = 4 * 13 * 11;
  const auto elements = static_cast<std::size_t>(kRows * channels);
  const auto vector = static_cast<std::size_t>(channels);
  CounterRng rng(21, 0, static_cast<std::uint64_t>(channels), RandomUse::kTest);
  const auto random = [&](std::size_t count) {
    std::vector<float> numbers(count);
    for (float& v : numbers) v = static_cast<float>(4 * rng.uniform() - 1.5);
    return numbers;
  };
  // `numbers` stored as `type`, in memory large enough for f32.
  const auto stored = [&](const std::vector<float>& numbers) {
    std::vector<float> memory(numbers.size());
    table.convert({numbers.data(), kernels::Element::kF32, memory.data(), type,
                   static_cast<std::int64_t>(numbers.size())},
                  threads);
    return memory;
  };
  const auto x = stored(random(elements));
  const auto residual = stored(random(elements));
  const auto dy = stored(random(elements));
  const auto scale = random(vector);
  const auto shift = random(vector);
  std::vector<float> y(elements), dx(elements), dresidual(elements), pooled(elements),
      dpool(elements);
  std::vector<float> mean(vector), variance(vector), dscale(vector), dshift(vector);
  std::vector<float> coefficients(position(kernels::batch_norm_coefficients(channels)));
  std::vector<double> scratch(position(kernels::batch_norm_scratch_bytes(channels)) / 8 + 1);
  std::vector<std::uint8_t> index(elements);

  std::vector<std::uint32_t> bits;
  const auto record = [&](const std::vector<float>& numbers) {
    for (const float v : numbers) bits.push_back(std::bit_cast<std::uint32_t>(v));
  };
  for (const bool with_residual : {false, true}) {
    const kernels::NormLayer layer{type, kRows, channels, 1e-5, true};
    const kernels::NormStatistics statistics{mean.data(), variance.data()};
    table.batch_norm({.layer = layer,
                      .x = x.data(),
                      .residual = with_residual ? residual.data() : nullptr,
                      .y = y.data(),
                      .scale = scale.data(),
                      .shift = shift.data(),
                      .statistics = statistics,
                      .memory = {coefficients.data(), scratch.data()}},
                     threads);
    kernels::BatchNormBackward backward{
        .layer = layer,
        .x = x.data(),
        .dy = dy.data(),
        .y = with_residual ? y.data() : nullptr,
        .scale = scale.data(),
        .statistics = statistics,
        .gradients = {dx.data(), with_residual ? dresidual.data() : nullptr, dscale.data(),
                      dshift.data()},
        .memory = {with_residual ? nullptr : coefficients.data(), scratch.data()}};
    table.batch_norm_backward(backward, threads);
    for (const auto* numbers : {&y, &mean, &variance, &dx, &dscale, &dshift, &dresidual}) {
      record(*numbers);
    }
    if (!with_residual) {  // y and x agree on where the ReLU was open
      const auto by_x = dx;
      backward.y = y.data();
      backward.memory.coefficients = nullptr;
      table.batch_norm_backward(backward, threads);
      EXPECT_EQ(by_x, dx);
    }
  }
  kernels::Pool pool{.type = type,
                     .layer = {4, channels, 13, 11, 7, 6, {3, 3, 2, 1}},
                     .from = x.data(),
                     .to = pooled.data(),
                     .index = index.data()};
  table.max_pool(pool, threads);
  record(pooled);
  pool.from = pooled.data();
  pool.to = dpool.data();
  table.max_pool_backward(pool, threads);
  record(dpool);
  return bits;
}

TEST(OneDnnKernels, InstructionSetsAndThreadsGiveTheSameBits) {
  using kernels::Element;
  for (const Element type : {Element::kF32, Element::kBf16}) {
    for (const std::int64_t channels : {1, 16, 37, 64}) {
      const auto want = bits_of_kernels(*kernels::tables().back(), type, channels, 1);
      for (const auto* table : kernels::tables()) {
        if (!kernels::runs_here(*table)) continue;
        for (const int threads : {1, 2, 3}) {
          EXPECT_TRUE(bits_of_kernels(*table, type, channels, threads) == want)
              << table->name << ", " << channels << " channels, " << threads << " threads";
        }
      }
    }
  }
}

TEST(OneDnnKernels, Bf16IsRoundedToNearestEven) {
  std::vector<float> from;
  for (std::uint32_t high : {0x0000U, 0x0001U, 0x3f80U, 0x3f81U, 0x7f7fU, 0x8000U, 0xc123U}) {
    for (std::uint32_t low : {0x0000U, 0x0001U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU}) {
      from.push_back(std::bit_cast<float>(high << 16 | low));
    }
  }
  const std::size_t finite = from.size();
  from.push_back(INFINITY);
  from.push_back(std::bit_cast<float>(0x7f800001U));  // a NaN whose upper half is that of infinity
  const auto count = static_cast<std::int64_t>(from.size());
  std::vector<std::uint16_t> half(from.size());
  std::vector<float> back(from.size());
  using kernels::Element;
  for (const auto* table : kernels::tables()) {
    if (!kernels::runs_here(*table)) continue;
    table->convert({from.data(), Element::kF32, half.data(), Element::kBf16, count}, 1);
    table->convert({half.data(), Element::kBf16, back.data(), Element::kF32, count}, 1);
    for (std::size_t i = 0; i < finite; ++i) {
      EXPECT_EQ(static_cast<double>(back[i]), as_bf16(static_cast<double>(from[i])))
          << table->name << ", " << from[i];
    }
    EXPECT_EQ(back[finite], INFINITY);
    EXPECT_TRUE(std::isnan(back[finite + 1])) << table->name;
  }
}

}  // namespace winnow::train::onednn_test
