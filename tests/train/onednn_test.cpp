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
#include "train/backend/onednn/kernels.h"
#include "train/backend/reference/interpret.h"
#include "train/graph/rewrites.h"
#include "train/nets/nets.h"

namespace winnow::train {
namespace {

using Numbers = std::vector<double>;
using Inputs = std::map<ValueId, Numbers>;

std::size_t position(std::int64_t i) { return static_cast<std::size_t>(i); }

bool can_bf16() { return make_onednn_backend()->instruction_set().starts_with("avx512"); }

double as_bf16(double number) {
  auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(number));
  if ((bits & 0x7f800000U) == 0) return 0;  // no subnormal numbers
  bits += 0x7fffU + ((bits >> 16) & 1U);
  return static_cast<double>(std::bit_cast<float>(bits & 0xffff0000U));
}

// What a bf16 program sees: activations given from outside are rounded before anything reads them.
Inputs as_seen(const Graph& graph, Inputs inputs, DType compute) {
  if (compute == DType::kF32) return inputs;
  for (auto& [id, numbers] : inputs) {
    const Value& value = graph.value(id);
    if (value.storage != Storage::kCompute || value.kind != ValueKind::kInput) continue;
    std::ranges::transform(numbers, numbers.begin(), as_bf16);
  }
  return inputs;
}

// A program with the memory outside of it.
class Running {
 public:
  Running(const Graph& graph, const Inputs& inputs, const CompileOptions& options)
      : program_(make_onednn_backend()->compile(graph, options)) {
    for (const auto& [id, numbers] : inputs) bind(id, numbers);
    for (const Output& output : graph.outputs) {
      bind(output.value, Numbers(position(element_count(graph.value(output.value).shape)), 77.0));
    }
    program_->load_parameters();
  }

  Program& program() { return *program_; }
  std::vector<float>& floats(ValueId id) { return floats_.at(id); }
  void run() { program_->run(0, program_->graph().nodes.size()); }

  Numbers numbers(ValueId id) const {
    const auto floats = floats_.find(id);
    if (floats != floats_.end()) return {floats->second.begin(), floats->second.end()};
    const auto& bytes = bytes_.at(id);
    return {bytes.begin(), bytes.end()};
  }
  std::vector<Numbers> outputs() const {
    std::vector<Numbers> all;
    for (const Output& output : program_->graph().outputs) all.push_back(numbers(output.value));
    return all;
  }

 private:
  void bind(ValueId id, const Numbers& numbers) {
    if (program_->graph().value(id).storage == Storage::kU8) {
      bytes_[id].assign(numbers.size(), 0);
      std::ranges::transform(numbers, bytes_[id].begin(),
                             [](double v) { return static_cast<std::uint8_t>(v); });
      program_->bind(id, bytes_[id]);
    } else {
      floats_[id].assign(numbers.begin(), numbers.end());
      program_->bind(id, floats_[id]);
    }
  }

  std::unique_ptr<Program> program_;
  std::map<ValueId, std::vector<float>> floats_;
  std::map<ValueId, std::vector<std::uint8_t>> bytes_;
};

double norm(const Numbers& numbers) {
  double sum = 0;
  for (const double v : numbers) sum += v * v;
  return std::sqrt(sum);
}

// |got - want| / |want|, both zero counting as equal.
double relative_l2(const Numbers& got, const Numbers& want) {
  Numbers difference(want.size());
  for (std::size_t i = 0; i < want.size(); ++i) difference[i] = got[i] - want[i];
  const double error = norm(difference);
  return error == 0 ? 0 : error / norm(want);
}

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

// Sums of some hundred f32 products; a bf16 has 8 significant bits (2^-9 = 0.002 a rounding).
double tolerance(DType compute) { return compute == DType::kF32 ? 1e-5 : 2e-2; }

TEST_P(OneDnn, EveryOperationMatchesTheReference) {
  for (const OpCase& made : op_cases()) {
    const Inputs inputs = as_seen(made.graph, made.inputs, options().compute);
    const auto want = interpret(made.graph, inputs);
    Running running(made.graph, inputs, options());
    running.run();
    for (const ValueId id : made.outputs) {
      const Numbers got = running.numbers(id);
      const Numbers& expected = want[position(id)];
      if (made.graph.value(id).storage == Storage::kU8) {
        EXPECT_EQ(got, expected) << made.name << ", " << made.graph.value(id).name;
      } else {
        EXPECT_LE(relative_l2(got, expected), tolerance(options().compute))
            << made.name << ", " << made.graph.value(id).name;
      }
    }
  }
}

// Wider than the table's: whole vectors of channels, several of them, and what is left over.
TEST_P(OneDnn, NormsAndPoolsOfManyChannelsMatchTheReference) {
  for (const std::int64_t channels : {6, 16, 24, 32, 50, 64, 112, 131}) {
    for (const bool residual : {false, true}) {
      Graph graph;
      Value x{"x", {3, channels, 9, 10}, ValueKind::kInput};
      const ValueId data = add_value(graph, x);
      x.name = "residual";
      const ValueId other = add_value(graph, x);
      x.name = "dy";
      const ValueId dy = add_value(graph, x);
      const Value vector{"scale", {channels}, ValueKind::kParameter, Storage::kF32, Init::kOnes};
      const ValueId scale = add_value(graph, vector);
      Value zeros = vector;
      zeros.name = "shift";
      zeros.init = Init::kZeros;
      const ValueId shift = add_value(graph, zeros);
      NormAttributes norm;
      norm.relu = true;
      norm.residual = residual;
      std::vector<ValueId> in = {data, scale, shift};
      if (residual) in.push_back(other);
      const auto y = add_node(graph, OpKind::kBatchNorm, "norm", in, norm);
      const auto dx = add_node(graph, OpKind::kBatchNormBackward, "dx",
                               {data, scale, y[1], y[2], dy, y[0]}, norm);
      // Pools of given data, as rounding of computed data could change who is the greatest.
      for (const ValueId id : y) graph.outputs.push_back({OutputKind::kValue, id});
      for (const ValueId id : dx) graph.outputs.push_back({OutputKind::kValue, id});
      for (const int kernel : {2, 3}) {  // stride 2: windows that touch, windows that overlap
        PoolAttributes pool;
        pool.kernel_h = pool.kernel_w = kernel;
        pool.stride = 2;
        pool.pad = 1;
        const auto top = add_node(graph, OpKind::kMaxPool, "max", {data}, pool);
        const auto mean = add_node(graph, OpKind::kAvgPool, "mean", {data}, pool);
        pool.data_shape = x.shape;
        const auto back = add_node(graph, OpKind::kMaxPoolBackward, "back", top, pool);
        const auto even = add_node(graph, OpKind::kAvgPoolBackward, "even", mean, pool);
        for (const ValueId id : {top[0], top[1], mean[0], back[0], even[0]}) {
          graph.outputs.push_back({OutputKind::kValue, id});
        }
      }

      const Inputs inputs = as_seen(graph, random_inputs(graph, 5), options().compute);
      const auto want = interpret(graph, inputs);
      Running running(graph, inputs, options());
      running.run();
      for (const Output& output : graph.outputs) {
        EXPECT_LE(relative_l2(running.numbers(output.value), want[position(output.value)]),
                  tolerance(options().compute))
            << channels << " channels, " << graph.value(output.value).name;
      }
    }
  }
}

// A mean far from zero leaves few bits for the spread: sums of squares would lose all of them.
TEST(OneDnnNorm, VarianceOfDataFarFromZeroIsKept) {
  Graph graph;
  const Shape shape = {8, 16, 16, 16};
  const ValueId x = add_value(graph, {"x", shape, ValueKind::kInput});
  const ValueId scale = add_value(graph, {"scale", {16}, ValueKind::kParameter, Storage::kF32});
  const ValueId shift = add_value(graph, {"shift", {16}, ValueKind::kParameter, Storage::kF32});
  const auto y = add_node(graph, OpKind::kBatchNorm, "y", {x, scale, shift}, NormAttributes{});
  for (const ValueId id : y) graph.outputs.push_back({OutputKind::kValue, id});
  Inputs inputs;
  CounterRng rng(3, 0, 0, RandomUse::kTest);
  inputs[x].resize(position(element_count(shape)));
  // The first images are constant, so a shift by the first values would not help either.
  for (std::size_t i = 0; i < inputs[x].size(); ++i) {
    inputs[x][i] = i < inputs[x].size() / 2 ? 0 : 4096 + rng.below(3);
  }
  inputs[scale] = Numbers(16, 1.0);
  inputs[shift] = Numbers(16, 0.0);
  const auto want = interpret(graph, inputs);
  Running running(graph, inputs, {DType::kF32, 1});
  running.run();
  for (const ValueId id : {y[1], y[2]}) {
    EXPECT_LE(relative_l2(running.numbers(id), want[position(id)]), 1e-6);
  }
}

TEST_P(OneDnn, ValuesOfAnyStorageMayMeet) {
  Graph graph;
  const Shape shape = {2, 3, 4, 5};
  const ValueId a = add_value(graph, {"a", shape, ValueKind::kInput, Storage::kF32});
  const ValueId b = add_value(graph, {"b", shape, ValueKind::kInput});
  const ValueId w = add_value(graph, {"w", {4, 3, 3, 3}, ValueKind::kInput, Storage::kF32});
  const auto sum = add_node(graph, OpKind::kAdd, "sum", {a, b});
  const auto twice = add_node(graph, OpKind::kAdd, "twice", {a, a});
  const auto four = add_node(graph, OpKind::kAdd, "four", {twice[0], twice[0]});
  ConvAttributes conv;
  conv.pad = 1;
  const auto of_sum = add_node(graph, OpKind::kConv2d, "of_sum", {sum[0], w}, conv);
  const auto of_four = add_node(graph, OpKind::kConv2d, "of_four", {four[0], w}, conv);
  for (const auto& made : {sum, four, of_sum, of_four}) {
    graph.outputs.push_back({OutputKind::kValue, made[0]});
  }
  ASSERT_EQ(graph.value(four[0]).storage, Storage::kF32);
  const Inputs inputs = as_seen(graph, random_inputs(graph, 9), options().compute);
  const auto want = interpret(graph, inputs);
  Running running(graph, inputs, options());
  running.run();
  for (const Output& output : graph.outputs) {
    EXPECT_LE(relative_l2(running.numbers(output.value), want[position(output.value)]),
              output.value == four[0] ? 1e-6 : tolerance(options().compute))
        << graph.value(output.value).name;
  }
}

Graph training_graph(std::string_view net, std::int64_t batch, int side, int channels) {
  NetOptions options;
  options.batch = batch;
  options.height_px = options.width_px = side;
  options.channels = channels;
  options.mean.assign(static_cast<std::size_t>(channels), 0.45F);
  options.deviation.assign(static_cast<std::size_t>(channels), 0.25F);
  options.label_smoothing = 0.1;
  return prune(differentiate(fuse(find_net(net).make(options))));
}

struct NetCase {
  const char* net;
  std::int64_t batch;
  int side;
  int channels;
};
constexpr NetCase kNets[] = {{"lenet", 5, 28, 1}, {"resnet20", 4, 16, 3}};

// The reference with all that a bf16 program keeps as bf16 rounded after each node, and the filters
// before: what bf16 costs whoever computes.
std::vector<Numbers> interpret_rounded(const Graph& graph, const Inputs& inputs) {
  std::vector<Numbers> values(graph.values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Value& value = graph.values[i];
    const auto given = inputs.find(static_cast<ValueId>(i));
    values[i].resize(position(element_count(value.shape)));
    if (given != inputs.end()) values[i] = given->second;
    const bool is_filter = value.kind == ValueKind::kParameter && value.shape.size() > 1;
    if (is_filter) std::ranges::transform(values[i], values[i].begin(), as_bf16);
  }
  for (const Node& node : graph.nodes) {
    interpret_node(graph, node, values);
    for (const ValueId id : node.outputs) {
      if (graph.value(id).storage != Storage::kCompute) continue;
      Numbers& numbers = values[position(id)];
      std::ranges::transform(numbers, numbers.begin(), as_bf16);
    }
  }
  return values;
}

// All gradients as one vector, as the optimiser sees them.
template <class Get>
Numbers gradients(const Graph& graph, Get get) {
  Numbers all;
  for (const Output& output : graph.outputs) {
    if (output.kind != OutputKind::kGradient) continue;
    const Numbers one = get(output.value);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

TEST_P(OneDnn, WholeNetsMatchTheReference) {
  const bool bf16 = options().compute == DType::kBF16;
  for (const NetCase& net : kNets) {
    const Graph graph = training_graph(net.net, net.batch, net.side, net.channels);
    const Inputs inputs = random_inputs(graph, 11);
    const auto exact = interpret(graph, inputs);
    const auto want = bf16 ? interpret_rounded(graph, inputs) : exact;
    Running running(graph, inputs, options());
    running.run();
    for (const Output& output : graph.outputs) {
      if (bf16 && output.kind == OutputKind::kGradient) continue;
      EXPECT_LE(relative_l2(running.numbers(output.value), want[position(output.value)]),
                tolerance(options().compute))
          << net.net << ", " << graph.value(output.value).name;
    }
    if (!bf16) continue;
    // In twenty layers roundings open and close ReLUs: gradients of ResNet-20 are 0.3 away from the
    // exact ones however they are computed. They may not be further away than rounding takes them.
    const Numbers true_gradient = gradients(graph, [&](ValueId id) { return exact[position(id)]; });
    const Numbers rounded = gradients(graph, [&](ValueId id) { return want[position(id)]; });
    const Numbers got = gradients(graph, [&](ValueId id) { return running.numbers(id); });
    EXPECT_LE(relative_l2(got, true_gradient), 1.25 * relative_l2(rounded, true_gradient))
        << net.net;
  }
}

TEST_P(OneDnn, RunInRangesOrTwiceGivesTheSameBits) {
  const Graph graph = training_graph("resnet20", 3, 16, 3);
  const Inputs inputs = random_inputs(graph, 12);
  Running whole(graph, inputs, options());
  whole.run();
  const auto want = whole.outputs();
  whole.run();
  EXPECT_EQ(whole.outputs(), want);

  Running parts(graph, inputs, options());
  const std::size_t nodes = graph.nodes.size();
  for (const std::size_t cut : {nodes / 3, nodes / 2, nodes - 1}) {
    parts.program().run(0, cut);
    parts.program().run(cut, cut);
    parts.program().run(cut, nodes);
    EXPECT_EQ(parts.outputs(), want) << "cut at " << cut;
  }
}

TEST_P(OneDnn, NotANumberReachesTheLoss) {
  for (const NetCase& net : kNets) {
    const Graph graph = training_graph(net.net, net.batch, net.side, net.channels);
    Inputs inputs = random_inputs(graph, 13);
    inputs[graph.of_kind(ValueKind::kParameter).front()][0] = std::nan("");
    Running running(graph, inputs, options());
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
  Running changed(graph, first, options());
  changed.run();
  for (const ValueId id : graph.of_kind(ValueKind::kParameter)) {
    std::ranges::copy(second.at(id), changed.floats(id).begin());
  }
  changed.program().load_parameters();
  changed.run();

  Inputs mixed = first;
  for (const ValueId id : graph.of_kind(ValueKind::kParameter)) mixed[id] = second.at(id);
  Running fresh(graph, mixed, options());
  fresh.run();
  EXPECT_EQ(changed.outputs(), fresh.outputs());
}

TEST_P(OneDnn, MemoryBoundLaterIsUsed) {
  const Graph graph = training_graph("lenet", 2, 28, 1);
  const Inputs inputs = random_inputs(graph, 16);
  Running running(graph, inputs, options());
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

// oneDNN keeps small lists of arguments while it runs a primitive; nothing may be left of them. A
// few bytes in the caches of malloc move about; a byte for each node would be more than the limit.
TEST_P(OneDnn, StepsDoNotGrowTheHeap) {
  const Graph graph = training_graph("resnet20", 2, 16, 3);
  Running running(graph, random_inputs(graph, 17), options());
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

  Running running(graph, random_inputs(graph, 1), {DType::kF32, 1});
  EXPECT_THROW(running.program().run(1, 2), Error);
  EXPECT_THROW(running.program().run(0, graph.nodes.size() + 1), Error);
  running.program().run(0, 2);
  EXPECT_THROW(running.program().run(3, 4), Error);
  running.program().run(0, 1);
}

// The kernels of every instruction set on one batch norm, its backward and a pool: for each, all
// bits of all results.
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
  // Of `type`, in memory large enough for f32.
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
    kernels::BatchNorm forward{};
    forward.type = type;
    forward.x = x.data();
    forward.residual = with_residual ? residual.data() : nullptr;
    forward.y = y.data();
    forward.rows = kRows;
    forward.channels = channels;
    forward.scale = scale.data();
    forward.shift = shift.data();
    forward.epsilon = 1e-5;
    forward.relu = true;
    forward.mean = mean.data();
    forward.variance = variance.data();
    forward.coefficients = coefficients.data();
    forward.scratch = scratch.data();
    table.batch_norm(forward, threads);
    kernels::BatchNormBackward backward{};
    backward.type = type;
    backward.x = x.data();
    backward.dy = dy.data();
    backward.y = with_residual ? y.data() : nullptr;
    backward.coefficients = with_residual ? nullptr : coefficients.data();
    backward.dx = dx.data();
    backward.dresidual = with_residual ? dresidual.data() : nullptr;
    backward.rows = kRows;
    backward.channels = channels;
    backward.scale = scale.data();
    backward.mean = mean.data();
    backward.variance = variance.data();
    backward.epsilon = 1e-5;
    backward.dscale = dscale.data();
    backward.dshift = dshift.data();
    backward.scratch = scratch.data();
    table.batch_norm_backward(backward, threads);
    for (const auto* numbers : {&y, &mean, &variance, &dx, &dscale, &dshift, &dresidual}) {
      record(*numbers);
    }
    if (!with_residual) {  // where the ReLU was open: told by y and by x, the same
      const auto by_x = dx;
      backward.y = y.data();
      backward.coefficients = nullptr;
      table.batch_norm_backward(backward, threads);
      EXPECT_EQ(by_x, dx);
    }
  }
  kernels::Pool pool{};
  pool.type = type;
  pool.from = x.data();
  pool.to = pooled.data();
  pool.index = index.data();
  pool.batch = 4;
  pool.channels = channels;
  pool.height = 13;
  pool.width = 11;
  pool.out_height = 7;
  pool.out_width = 6;
  pool.kernel_h = pool.kernel_w = 3;
  pool.stride = 2;
  pool.pad = 1;
  table.max_pool(pool, threads);
  record(pooled);
  pool.from = pooled.data();
  pool.to = dpool.data();
  table.max_pool_backward(pool, threads);
  record(dpool);
  return bits;
}

const kernels::Table* const kTables[] = {&kernels::generic(), &kernels::x86_64_v3(),
                                         &kernels::x86_64_v4(), &kernels::x86_64_v4_bf16()};

TEST(OneDnnKernels, InstructionSetsAndThreadsGiveTheSameBits) {
  using kernels::Element;
  for (const Element type : {Element::kF32, Element::kBf16}) {
    for (const std::int64_t channels : {1, 16, 37, 64}) {
      const auto want = bits_of_kernels(kernels::generic(), type, channels, 1);
      for (const auto* table : kTables) {
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
  from.push_back(std::bit_cast<float>(0x7f800001U));  // a NaN whose upper half is infinity's
  const auto count = static_cast<std::int64_t>(from.size());
  std::vector<std::uint16_t> half(from.size());
  std::vector<float> back(from.size());
  using kernels::Element;
  for (const auto* table : kTables) {
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

}  // namespace
}  // namespace winnow::train
