#include "tests/train/conformance.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "tests/train/cases.h"
#include "train/backend/reference/interpret.h"
#include "train/graph/reference.h"
#include "train/nets/nets.h"
#include "train/ops/batch_norm.h"
#include "train/ops/conv2d.h"
#include "train/ops/elementwise.h"
#include "train/ops/pooling.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train {
namespace {

std::size_t position(std::int64_t i) { return static_cast<std::size_t>(i); }

double norm(const Numbers& numbers) {
  double sum = 0;
  for (const double v : numbers) sum += v * v;
  return std::sqrt(sum);
}

double rounded_to(DType compute, double number) {
  return compute == DType::kF16 ? as_f16(number) : as_bf16(number);
}

Deviation compare(const std::string& what, const Numbers& got, const Numbers& want, double limit) {
  return {what, relative_l2(got, want), limit};
}

// Counts the bytes that differ; none may.
Deviation compare_bytes(const std::string& what, const Numbers& got, const Numbers& want) {
  double different = 0;
  for (std::size_t i = 0; i < want.size(); ++i) different += got[i] == want[i] ? 0 : 1;
  return {what, different, 0};
}

// `got`, except that values within the rounding error of a subnormal f16 number count as equal.
Numbers but_for_subnormal_bits(Numbers got, const Numbers& want) {
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (std::abs(got[i] - want[i]) <= 0x1p-25) got[i] = want[i];
  }
  return got;
}

// Runs `graph` and compares all of its outputs.
std::vector<Deviation> compare_outputs(Backend& backend, const CompileOptions& options,
                                       const std::string& name, const Graph& graph,
                                       const Inputs& given) {
  const Inputs inputs = as_seen(graph, given, options.compute);
  const auto want = interpret(graph, inputs);
  Running running(backend, graph, inputs, options);
  running.run();
  std::vector<Deviation> rows;
  for (const Output& output : graph.outputs) {
    const Value& value = graph.value(output.value);
    const std::string what = name + ": " + value.name;
    const Numbers& expected = want[position(output.value)];
    Numbers got = running.numbers(output.value);
    if (options.compute == DType::kF16) got = but_for_subnormal_bits(std::move(got), expected);
    rows.push_back(value.storage == Storage::kU8
                       ? compare_bytes(what, got, expected)
                       : compare(what, got, expected, tolerance(options.compute)));
  }
  return rows;
}

std::vector<Deviation> compare_cases(Backend& backend, const CompileOptions& options,
                                     const std::vector<OpCase>& cases) {
  std::vector<Deviation> rows;
  for (const OpCase& made : cases) {
    std::ranges::move(compare_outputs(backend, options, made.name, made.graph, made.inputs),
                      std::back_inserter(rows));
  }
  return rows;
}

// A batch norm with ReLU, its backward, and pools, of so many channels.
Graph wide_layers(std::int64_t channels, bool residual) {
  Graph graph;
  Value x{"x", {3, channels, 9, 10}, ValueKind::kInput};
  const ValueId data = add_value(graph, x);
  x.name = "residual";
  const ValueId other = add_value(graph, x);
  x.name = "dy";
  const ValueId dy = add_value(graph, x);
  Value vector{"scale", {channels}, ValueKind::kParameter, Storage::kF32, Init::kOnes};
  const ValueId scale = add_value(graph, vector);
  vector.name = "shift";
  vector.init = Init::kZeros;
  const ValueId shift = add_value(graph, vector);
  NormAttributes norm;
  norm.relu = true;
  norm.residual = residual;
  std::vector<ValueId> in = {data, scale, shift};
  if (residual) in.push_back(other);
  const auto y = add_node(graph, kBatchNorm, "norm", in, norm);
  const auto dx =
      add_node(graph, kBatchNormBackward, "dx", {data, scale, y[1], y[2], dy, y[0]}, norm);
  // The pools read given data: rounding of computed data could change which element is the largest.
  for (const ValueId id : y) graph.outputs.push_back({OutputKind::kValue, id});
  for (const ValueId id : dx) graph.outputs.push_back({OutputKind::kValue, id});
  for (const int kernel : {2, 3}) {  // stride 2: adjacent windows, overlapping windows
    PoolAttributes pool;
    pool.kernel_h = pool.kernel_w = kernel;
    pool.stride = 2;
    pool.pad = 1;
    const auto top = add_node(graph, kMaxPool, "max", {data}, pool);
    const auto mean = add_node(graph, kAvgPool, "mean", {data}, pool);
    pool.data_shape = x.shape;
    const auto back = add_node(graph, kMaxPoolBackward, "back", top, pool);
    const auto even = add_node(graph, kAvgPoolBackward, "even", mean, pool);
    for (const ValueId id : {top[0], top[1], mean[0], back[0], even[0]}) {
      graph.outputs.push_back({OutputKind::kValue, id});
    }
  }
  return graph;
}

// The reference with the rounding of this precision: each node's outputs are rounded, filters
// beforehand. This is the error of the precision itself, on any backend.
std::vector<Numbers> interpret_rounded(const Graph& graph, const Inputs& inputs, DType compute) {
  const auto rounded = [&](double number) { return rounded_to(compute, number); };
  std::vector<Numbers> values(graph.values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Value& value = graph.values[i];
    const auto given = inputs.find(static_cast<ValueId>(i));
    values[i].resize(position(element_count(value.shape)));
    if (given != inputs.end()) values[i] = given->second;
    const bool is_filter = value.kind == ValueKind::kParameter && value.shape.size() > 1;
    if (is_filter) std::ranges::transform(values[i], values[i].begin(), rounded);
  }
  for (const Node& node : graph.nodes) {
    interpret_node(graph, node, values);
    for (const ValueId id : node.outputs) {
      if (graph.value(id).storage != Storage::kCompute) continue;
      Numbers& numbers = values[position(id)];
      std::ranges::transform(numbers, numbers.begin(), rounded);
    }
  }
  return values;
}

// All gradients as one vector, as the optimiser sees them; with `others`, all other outputs.
template <class Get>
Numbers gradients(const Graph& graph, Get get, bool others = false) {
  Numbers all;
  for (const Output& output : graph.outputs) {
    if ((output.kind == OutputKind::kGradient) == others) continue;
    const Numbers one = get(output.value);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

// Inputs with which no ReLU behind a batch norm is near its kink, and half of them are open. Among
// millions of activations some lie so near the kink that rounding to f32 decides, which changes
// gradients by several percent.
Inputs far_from_relus(const Graph& graph, Inputs inputs) {
  for (const Node& node : graph.nodes) {
    if (op_name(node.op) != "batch_norm" || !attributes_of<NormAttributes>(node).relu) continue;
    Numbers& shift = inputs.at(node.inputs[2]);
    for (std::size_t c = 0; c < shift.size(); ++c) shift[c] = c % 2 == 0 ? 8 : -8;
    if (attributes_of<NormAttributes>(node).residual) std::ranges::fill(shift, 8.0);
  }
  return inputs;
}

std::vector<Deviation> compare_net(Backend& backend, const CompileOptions& options,
                                   const NetCase& net) {
  const bool is_half = bytes_of(options.compute) == 2;
  const Graph graph = training_graph(net.net, net.batch, net.side, net.channels);
  const Inputs inputs = random_inputs(graph, 11);
  const auto exact = interpret(graph, inputs);
  const auto want = is_half ? interpret_rounded(graph, inputs, options.compute) : exact;
  Running running(backend, graph, inputs, options);
  running.run();
  std::vector<Deviation> rows;
  // tf32 rounds at every layer, as bf16 does, with a quarter of the error.
  const bool rounds = options.compute != DType::kF32;
  const DType limited_as = options.compute == DType::kTf32 ? DType::kBF16 : options.compute;
  for (const Output& output : graph.outputs) {
    if (rounds && output.kind == OutputKind::kGradient) continue;
    rows.push_back(compare(std::string(net.net) + ": " + graph.value(output.value).name,
                           running.numbers(output.value), want[position(output.value)],
                           tolerance(limited_as)));
  }
  if (!rounds) return rows;
  // In twenty layers, rounding opens and closes ReLUs: on any backend the gradients of ResNet-20
  // are 0.3 away from the exact ones. They must not be much further away than rounding alone takes
  // them.
  const auto rounded_values = is_half ? want : interpret_rounded(graph, inputs, limited_as);
  const Numbers true_gradient = gradients(graph, [&](ValueId id) { return exact[position(id)]; });
  const Numbers rounded =
      gradients(graph, [&](ValueId id) { return rounded_values[position(id)]; });
  rows.push_back(compare(std::string(net.net) + ": all gradients",
                         gradients(graph, [&](ValueId id) { return running.numbers(id); }),
                         true_gradient, 1.25 * relative_l2(rounded, true_gradient)));
  return rows;
}

}  // namespace

double tolerance(DType compute) {
  switch (compute) {
    case DType::kF32:
      return 1e-5;
    case DType::kTf32:
      return 5e-3;
    case DType::kBF16:
      return 2e-2;
    case DType::kF16:
      return 2.5e-3;
  }
  return 0;
}

double relative_l2(const Numbers& got, const Numbers& want) {
  Numbers difference(want.size());
  for (std::size_t i = 0; i < want.size(); ++i) difference[i] = got[i] - want[i];
  const double error = norm(difference);
  if (std::isnan(error)) return std::numeric_limits<double>::infinity();
  return error == 0 ? 0 : error / norm(want);
}

double as_bf16(double number) {
  auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(number));
  if ((bits & 0x7f800000U) == 0) return 0;  // no subnormal numbers
  bits += 0x7fffU + ((bits >> 16) & 1U);
  return static_cast<double>(std::bit_cast<float>(bits & 0xffff0000U));
}

double as_f16(double number) {
  constexpr double kLargest = 65504;
  const auto single = static_cast<double>(static_cast<float>(number));
  if (number == 0 || !std::isfinite(single)) return single;
  const int last_bit = std::max(std::ilogb(single), -14) - 10;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(single, -last_bit)), last_bit);
  if (std::abs(rounded) <= kLargest) return rounded;
  return std::copysign(std::numeric_limits<double>::infinity(), number);
}

Inputs as_seen(const Graph& graph, Inputs inputs, DType compute) {
  if (bytes_of(compute) == 4) return inputs;
  for (auto& [id, numbers] : inputs) {
    const Value& value = graph.value(id);
    if (value.storage != Storage::kCompute || value.kind != ValueKind::kInput) continue;
    std::ranges::transform(numbers, numbers.begin(),
                           [&](double number) { return rounded_to(compute, number); });
  }
  return inputs;
}

Running::Running(Backend& backend, const Graph& graph, const Inputs& inputs,
                 const CompileOptions& options)
    : Running(backend.compile(graph, options), inputs) {
  program_->load_parameters();
}

Running::Running(std::unique_ptr<Program> program, const Inputs& inputs)
    : program_(std::move(program)) {
  const Graph& graph = program_->graph();
  for (const auto& [id, numbers] : inputs) bind(id, numbers);
  for (const Output& output : graph.outputs) {
    bind(output.value, Numbers(position(element_count(graph.value(output.value).shape)), 77.0));
  }
}

void Running::run() {
  const std::size_t nodes = program_->graph().nodes.size();
  program_->run(0, nodes);
  program_->wait(nodes);
}

Numbers Running::numbers(ValueId id) const {
  const auto floats = floats_.find(id);
  if (floats != floats_.end()) return {floats->second.begin(), floats->second.end()};
  const auto& bytes = bytes_.at(id);
  return {bytes.begin(), bytes.end()};
}

std::vector<Numbers> Running::outputs() const {
  std::vector<Numbers> all;
  for (const Output& output : program_->graph().outputs) all.push_back(numbers(output.value));
  return all;
}

void Running::bind(ValueId id, const Numbers& numbers) {
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

Graph training_graph(std::string_view net, std::int64_t batch, int side, int channels) {
  NetOptions options;
  options.batch = batch;
  options.height_px = options.width_px = side;
  options.channels = channels;
  options.mean.assign(static_cast<std::size_t>(channels), 0.45F);
  options.stddev.assign(static_cast<std::size_t>(channels), 0.25F);
  options.loss.label_smoothing = 0.1;
  return prune(differentiate(fuse(find_net(net).make(options))));
}

std::vector<Deviation> compare_case(Backend& backend, const CompileOptions& options,
                                    const OpCase& made) {
  return compare_outputs(backend, options, made.name, made.graph, made.inputs);
}

std::vector<Deviation> compare_operations(Backend& backend, const CompileOptions& options) {
  return compare_cases(backend, options, op_cases());
}

std::vector<Deviation> compare_wide_products(Backend& backend, const CompileOptions& options) {
  return compare_cases(backend, options, wide_product_cases());
}

std::vector<Deviation> compare_wide_layers(Backend& backend, const CompileOptions& options) {
  std::vector<Deviation> rows;
  for (const std::int64_t channels : {6, 16, 24, 32, 50, 64, 112, 131}) {
    for (const bool residual : {false, true}) {
      const Graph graph = wide_layers(channels, residual);
      const std::string name = std::to_string(channels) + " channels";
      for (Deviation& row :
           compare_outputs(backend, options, name, graph, random_inputs(graph, 5))) {
        rows.push_back(std::move(row));
      }
    }
  }
  return rows;
}

std::vector<Deviation> compare_storages(Backend& backend, const CompileOptions& options) {
  Graph graph;
  const Shape shape = {2, 3, 4, 5};
  const ValueId a = add_value(graph, {"a", shape, ValueKind::kInput, Storage::kF32});
  const ValueId b = add_value(graph, {"b", shape, ValueKind::kInput});
  const ValueId w = add_value(graph, {"w", {4, 3, 3, 3}, ValueKind::kInput, Storage::kF32});
  const auto sum = add_node(graph, kAdd, "sum", {a, b});
  const auto twice = add_node(graph, kAdd, "twice", {a, a});
  const auto four = add_node(graph, kAdd, "four", {twice[0], twice[0]});
  ConvAttributes conv;
  conv.axes = both_axes(1, 1);
  const auto of_sum = add_node(graph, kConv2d, "of_sum", {sum[0], w}, conv);
  const auto of_four = add_node(graph, kConv2d, "of_four", {four[0], w}, conv);
  for (const auto& made : {sum, four, of_sum, of_four}) {
    graph.outputs.push_back({OutputKind::kValue, made[0]});
  }
  auto rows = compare_outputs(backend, options, "storages", graph, random_inputs(graph, 9));
  rows[1].limit = 1e-6;  // `four` is f32 throughout
  return rows;
}

DeepNet::DeepNet(const NetCase& net)
    : name_(net.net),
      graph_(training_graph(net.net, net.batch, net.side, net.channels)),
      inputs_(far_from_relus(graph_, random_inputs(graph_, 11))),
      exact_(interpret(graph_, inputs_)) {}

const DeepNet::Values& DeepNet::rounded(DType compute) {
  const auto found = rounded_.find(compute);
  if (found != rounded_.end()) return found->second;
  return rounded_.emplace(compute, interpret_rounded(graph_, inputs_, compute)).first->second;
}

std::vector<Deviation> DeepNet::compare_each(const Running& running) const {
  std::vector<Deviation> rows;
  const double whole = norm(gradients(graph_, [&](ValueId id) { return exact_[position(id)]; }));
  for (const Output& output : graph_.outputs) {
    const Numbers& want = exact_[position(output.value)];
    const double error = relative_l2(running.numbers(output.value), want);
    // The next norm takes away what a shift adds, so that its gradient is next to nothing.
    const bool is_small = output.kind == OutputKind::kGradient && norm(want) < 0.01 * whole;
    const double relative_to = is_small ? 0.01 * whole : norm(want);
    rows.push_back(
        {name_ + ": " + graph_.value(output.value).name, error * norm(want) / relative_to, 1e-4});
  }
  return rows;
}

std::vector<Deviation> DeepNet::deviations(Backend& backend, const CompileOptions& options) {
  Running running(backend, graph_, inputs_, options);
  running.run();
  if (options.compute == DType::kF32) return compare_each(running);
  // tf32 rounds at every layer, as bf16 does, a quarter as much.
  const Values& rounded_values =
      rounded(options.compute == DType::kTf32 ? DType::kBF16 : options.compute);
  std::vector<Deviation> rows;
  for (const bool others : {false, true}) {
    const auto all_of = [&](const Values& values) {
      return gradients(
          graph_, [&](ValueId id) { return values[position(id)]; }, others);
    };
    const Numbers got = gradients(
        graph_, [&](ValueId id) { return running.numbers(id); }, others);
    rows.push_back(compare(name_ + (others ? ": all but the gradients" : ": all gradients"), got,
                           all_of(exact_),
                           1.25 * relative_l2(all_of(rounded_values), all_of(exact_))));
  }
  return rows;
}

std::vector<Deviation> compare_nets(Backend& backend, const CompileOptions& options) {
  std::vector<Deviation> rows;
  for (const NetCase& net : kConformanceNets) {
    for (Deviation& row : compare_net(backend, options, net)) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace winnow::train
