#include "tests/train/cases.h"

#include <cmath>
#include <utility>

#include "common/rng.h"
#include "train/backend/reference/interpret.h"

namespace winnow::train {
namespace {

using Numbers = std::vector<double>;

Numbers as_f32(Numbers numbers) {
  for (double& number : numbers) number = static_cast<float>(number);
  return numbers;
}

// A case under construction: its values, filled with random numbers that depend on the case's place
// in the table only.
class Maker {
 public:
  explicit Maker(std::uint64_t place) : rng_(1, 0, place, RandomUse::kTest) {}

  ValueId leaf(std::string name, Shape shape, Numbers numbers, ValueKind kind = ValueKind::kInput,
               Storage storage = Storage::kF32) {
    Value value;
    value.name = std::move(name);
    value.shape = std::move(shape);
    value.kind = kind;
    value.storage = storage;
    const ValueId id = add_value(made_.graph, std::move(value));
    made_.inputs[id] = std::move(numbers);
    return id;
  }
  ValueId data(std::string name, const Shape& shape) {
    return leaf(std::move(name), shape, signed_numbers(shape), ValueKind::kInput,
                Storage::kCompute);
  }
  ValueId parameter(std::string name, const Shape& shape) {
    return leaf(std::move(name), shape, signed_numbers(shape), ValueKind::kParameter);
  }

  // Multiples of 1/128 in [-1, 1].
  Numbers signed_numbers(const Shape& shape) {
    Numbers numbers(static_cast<std::size_t>(element_count(shape)));
    for (double& number : numbers) number = static_cast<int>(rng_.below(257)) / 128.0 - 1;
    return numbers;
  }
  Numbers positive_numbers(const Shape& shape) {
    Numbers numbers = signed_numbers(shape);
    for (double& number : numbers) number = 0.5 + number * number;
    return as_f32(numbers);
  }
  Numbers whole_numbers(const Shape& shape, std::uint32_t below) {
    Numbers numbers(static_cast<std::size_t>(element_count(shape)));
    for (double& number : numbers) number = rng_.below(below);
    return numbers;
  }

  OpCase finish(std::string name, OpKind op, std::vector<ValueId> inputs,
                Attributes attributes) && {
    made_.name = std::move(name);
    made_.outputs = add_node(made_.graph, op, "y", std::move(inputs), std::move(attributes));
    for (const ValueId id : made_.outputs) {
      made_.graph.outputs.push_back({OutputKind::kValue, id, -1, 0});
    }
    return std::move(made_);
  }

 private:
  OpCase made_;
  CounterRng rng_;
};

class Table {
 public:
  std::vector<OpCase> take() && { return std::move(cases_); }

  void conv(const std::string& name, const Shape& x, const Shape& w, ConvAttributes a) {
    const Shape y = {x[0], w[0], (x[2] + 2 * a.pad - w[2]) / a.stride + 1,
                     (x[3] + 2 * a.pad - w[3]) / a.stride + 1};
    for (const bool bias : {false, true}) {
      a.bias = bias;
      const std::string tail = name + (bias ? "_bias" : "");
      Maker forward = maker();
      std::vector<ValueId> inputs = {forward.data("x", x), forward.parameter("w", w)};
      if (bias) inputs.push_back(forward.parameter("b", {w[0]}));
      keep(std::move(forward).finish("conv2d_" + tail, OpKind::kConv2d, inputs, a));

      Maker filter = maker();
      inputs = {filter.data("x", x), filter.data("dy", y)};
      ConvAttributes of_filter = a;
      of_filter.filter_shape = w;
      keep(std::move(filter).finish("conv2d_backward_filter_" + tail, OpKind::kConv2dBackwardFilter,
                                    inputs, of_filter));
    }
    Maker data = maker();
    const std::vector<ValueId> inputs = {data.data("dy", y), data.parameter("w", w)};
    a.bias = false;
    a.data_shape = x;
    keep(std::move(data).finish("conv2d_backward_data_" + name, OpKind::kConv2dBackwardData, inputs,
                                a));
  }

  void linear(const std::string& name, const Shape& x, std::int64_t k) {
    const Shape w = {k, element_count(x) / x[0]};
    for (const bool bias : {false, true}) {
      LinearAttributes a;
      a.bias = bias;
      const std::string tail = name + (bias ? "_bias" : "");
      Maker forward = maker();
      std::vector<ValueId> inputs = {forward.data("x", x), forward.parameter("w", w)};
      if (bias) inputs.push_back(forward.parameter("b", {k}));
      keep(std::move(forward).finish("linear_" + tail, OpKind::kLinear, inputs, a));

      Maker filter = maker();
      inputs = {filter.data("x", x), filter.data("dy", {x[0], k})};
      keep(std::move(filter).finish("linear_backward_filter_" + tail, OpKind::kLinearBackwardWeight,
                                    inputs, a));
    }
    Maker data = maker();
    LinearAttributes a;
    a.data_shape = x;
    const std::vector<ValueId> inputs = {data.data("dy", {x[0], k}), data.parameter("w", w)};
    keep(std::move(data).finish("linear_backward_data_" + name, OpKind::kLinearBackwardData, inputs,
                                a));
  }

  void norm(const std::string& name, const Shape& x, double epsilon) {
    for (const bool residual : {false, true}) {
      for (const bool relu : {false, true}) {
        const NormAttributes a{epsilon, relu, residual};
        const std::string tail = name + (residual ? "_residual" : "") + (relu ? "_relu" : "");
        norm_forward(tail, x, a);
        norm_inference(tail, x, a);
        norm_backward(tail, x, a);
      }
    }
  }

  void pool(const std::string& name, const Shape& x, PoolAttributes a, bool ties = false) {
    Maker max = maker();
    const ValueId data =
        ties ? max.leaf("x", x, max.whole_numbers(x, 2), ValueKind::kInput, Storage::kCompute)
             : max.data("x", x);
    keep(std::move(max).finish("max_pool_" + name, OpKind::kMaxPool, {data}, a));
    const Graph pooled = cases_.back().graph;
    const Shape y = pooled.value(pooled.outputs[0].value).shape;
    const Numbers index =
        interpret(pooled, cases_.back().inputs)[static_cast<std::size_t>(pooled.outputs[1].value)];

    Maker average = maker();
    const ValueId average_data = average.data("x", x);
    keep(std::move(average).finish("avg_pool_" + name, OpKind::kAvgPool, {average_data}, a));

    a.data_shape = x;
    Maker max_backward = maker();
    const std::vector<ValueId> inputs = {
        max_backward.data("dy", y),
        max_backward.leaf("index", y, index, ValueKind::kInput, Storage::kU8)};
    keep(std::move(max_backward)
             .finish("max_pool_backward_" + name, OpKind::kMaxPoolBackward, inputs, a));

    Maker average_backward = maker();
    const ValueId dy = average_backward.data("dy", y);
    keep(std::move(average_backward)
             .finish("avg_pool_backward_" + name, OpKind::kAvgPoolBackward, {dy}, a));
  }

  void elementwise(const std::string& name, const Shape& shape) {
    Maker relu = maker();
    const ValueId x = relu.data("x", shape);
    keep(std::move(relu).finish("relu_" + name, OpKind::kRelu, {x}, {}));
    Maker backward = maker();
    const std::vector<ValueId> gradients = {backward.data("y", shape), backward.data("dy", shape)};
    keep(std::move(backward).finish("relu_backward_" + name, OpKind::kReluBackward, gradients, {}));
    Maker add = maker();
    const std::vector<ValueId> terms = {add.data("a", shape), add.data("b", shape)};
    keep(std::move(add).finish("add_" + name, OpKind::kAdd, terms, {}));
  }

  void normalize(const std::string& name, const Shape& shape) {
    Maker pixels = maker();
    NormalizeAttributes a;
    for (std::int64_t c = 0; c < shape[1]; ++c) {
      a.mean.push_back(0.3F + 0.1F * static_cast<float>(c));
      a.deviation.push_back(0.2F + 0.05F * static_cast<float>(c));
    }
    const ValueId x = pixels.leaf("pixels", shape, pixels.whole_numbers(shape, 256),
                                  ValueKind::kInput, Storage::kU8);
    keep(std::move(pixels).finish("normalize_input_" + name, OpKind::kNormalizeInput, {x}, a));
  }

  // `mixed`: targets are weights of two classes, as mixing two images gives.
  void loss(const std::string& name, std::int64_t n, std::int64_t k, double smoothing, bool mixed) {
    for (const bool backward : {false, true}) {
      Maker made = maker();
      Numbers targets(static_cast<std::size_t>(n * k));
      Numbers weights(static_cast<std::size_t>(n));
      const Numbers labels = made.whole_numbers({n, 2}, static_cast<std::uint32_t>(k));
      for (std::size_t i = 0; i < weights.size(); ++i) {
        const auto row = i * static_cast<std::size_t>(k);
        targets[row + static_cast<std::size_t>(labels[2 * i])] += mixed ? 0.25 : 1;
        if (mixed) targets[row + static_cast<std::size_t>(labels[2 * i + 1])] += 0.75;
        weights[i] = i % 3 == 2 ? 0 : 0.125 * static_cast<double>(1 + i % 2);
      }
      Numbers logits = made.signed_numbers({n, k});
      for (double& logit : logits) logit *= 16;
      const std::vector<ValueId> inputs = {
          made.leaf("logits", {n, k}, logits, ValueKind::kInput, Storage::kCompute),
          made.leaf("targets", {n, k}, targets), made.leaf("weights", {n}, weights)};
      keep(std::move(made).finish(
          (backward ? "softmax_cross_entropy_backward_" : "softmax_cross_entropy_") + name,
          backward ? OpKind::kSoftmaxCrossEntropyBackward : OpKind::kSoftmaxCrossEntropy, inputs,
          LossAttributes{smoothing}));
    }
  }

 private:
  Maker maker() const { return Maker(cases_.size()); }
  void keep(OpCase made) { cases_.push_back(std::move(made)); }

  static std::vector<ValueId> norm_inputs(Maker& made, const Shape& x) {
    return {made.data("x", x), made.parameter("scale", {x[1]}), made.parameter("shift", {x[1]})};
  }

  void norm_forward(const std::string& tail, const Shape& x, const NormAttributes& a) {
    Maker made = maker();
    std::vector<ValueId> inputs = norm_inputs(made, x);
    if (a.residual) inputs.push_back(made.data("residual", x));
    keep(std::move(made).finish("batch_norm_" + tail, OpKind::kBatchNorm, inputs, a));
  }

  void norm_inference(const std::string& tail, const Shape& x, const NormAttributes& a) {
    Maker made = maker();
    std::vector<ValueId> inputs = norm_inputs(made, x);
    const Shape channels = {x[1]};
    inputs.push_back(made.leaf("mean", channels, made.signed_numbers(channels), ValueKind::kBuffer));
    inputs.push_back(
        made.leaf("variance", channels, made.positive_numbers(channels), ValueKind::kBuffer));
    if (a.residual) inputs.push_back(made.data("residual", x));
    keep(std::move(made).finish("batch_norm_inference_" + tail, OpKind::kBatchNormInference, inputs,
                                a));
  }

  // Statistics and y are those of x, so that a backend may use either.
  void norm_backward(const std::string& tail, const Shape& x, const NormAttributes& a) {
    const OpCase& forward = cases_[cases_.size() - 2];
    const auto values = interpret(forward.graph, forward.inputs);
    const auto value = [&](const char* name) {
      return values[static_cast<std::size_t>(forward.graph.find(name))];
    };
    const Shape channels = {x[1]};
    Maker made = maker();
    std::vector<ValueId> inputs = {
        made.leaf("x", x, value("x"), ValueKind::kInput, Storage::kCompute),
        made.leaf("scale", channels, value("scale"), ValueKind::kParameter),
        made.leaf("mean", channels, as_f32(value("y.mean"))),
        made.leaf("variance", channels, as_f32(value("y.variance"))), made.data("dy", x)};
    if (a.relu) {
      inputs.push_back(
          made.leaf("relu_y", x, as_f32(value("y")), ValueKind::kInput, Storage::kCompute));
    }
    keep(std::move(made).finish("batch_norm_backward_" + tail, OpKind::kBatchNormBackward, inputs,
                                a));
  }

  std::vector<OpCase> cases_;
};

ConvAttributes conv_attributes(int stride, int pad) {
  ConvAttributes a;
  a.stride = stride;
  a.pad = pad;
  return a;
}

PoolAttributes pool_attributes(int kernel_h, int kernel_w, int stride, int pad) {
  PoolAttributes a;
  a.kernel_h = kernel_h;
  a.kernel_w = kernel_w;
  a.stride = stride;
  a.pad = pad;
  return a;
}

}  // namespace

std::vector<OpCase> op_cases() {
  Table table;
  // clang-format off
  //                               N  C  H  W    K  C  R  S                  stride pad
  table.conv("square_3x3",        {2, 3, 8, 8}, {4, 3, 3, 3}, conv_attributes(1, 1));
  table.conv("odd_width",         {1, 5, 7, 9}, {6, 5, 3, 3}, conv_attributes(1, 1));
  table.conv("strided_3x3",       {2, 4, 9, 7}, {5, 4, 3, 3}, conv_attributes(2, 1));
  table.conv("stride_leaves_rest", {2, 3, 8, 6}, {3, 3, 3, 3}, conv_attributes(2, 0));
  table.conv("1x1",               {3, 8, 5, 5}, {16, 8, 1, 1}, conv_attributes(1, 0));
  table.conv("strided_1x1",       {2, 8, 6, 7}, {16, 8, 1, 1}, conv_attributes(2, 0));
  table.conv("one_channel_5x5",   {2, 1, 12, 12}, {20, 1, 5, 5}, conv_attributes(1, 0));
  table.conv("kernel_is_image",   {1, 2, 5, 5}, {3, 2, 5, 5}, conv_attributes(1, 0));
  table.conv("oblong_kernel",     {2, 3, 6, 8}, {4, 3, 1, 5}, conv_attributes(1, 0));
  table.conv("wide_pad",          {1, 2, 4, 5}, {3, 2, 3, 3}, conv_attributes(3, 2));
  table.conv("one_pixel",         {1, 1, 1, 1}, {1, 1, 1, 1}, conv_attributes(1, 0));
  table.conv("stem_7x7",          {1, 3, 16, 18}, {16, 3, 7, 7}, conv_attributes(2, 3));

  // clang-format on
  table.linear("flat", {3, 7}, 5);
  table.linear("image", {2, 3, 4, 5}, 6);
  table.linear("one_sample", {1, 17}, 10);
  table.linear("one_class", {4, 1}, 1);
  table.linear("wide", {5, 64}, 33);

  table.norm("image", {2, 3, 4, 5}, 1e-5);
  table.norm("one_sample_odd", {1, 17, 3, 7}, 1e-5);
  table.norm("one_channel", {4, 1, 3, 3}, 1e-3);
  table.norm("pixels_of_one", {6, 4, 1, 1}, 1e-5);

  table.pool("2x2", {2, 3, 8, 6}, pool_attributes(2, 2, 2, 0));
  table.pool("2x2_leaves_rest", {1, 5, 7, 9}, pool_attributes(2, 2, 2, 0));
  table.pool("3x3_padded_overlap", {2, 4, 7, 8}, pool_attributes(3, 3, 2, 1));
  table.pool("3x3_stride_1", {1, 2, 5, 4}, pool_attributes(3, 3, 1, 1));
  table.pool("oblong", {2, 3, 6, 5}, pool_attributes(1, 3, 2, 0));
  table.pool("global", {3, 16, 5, 4}, pool_attributes(5, 4, 1, 0));
  table.pool("gaps", {1, 3, 9, 9}, pool_attributes(2, 2, 4, 0));
  table.pool("ties", {2, 3, 7, 7}, pool_attributes(3, 3, 2, 1), true);

  table.elementwise("image", {2, 5, 3, 7});
  table.elementwise("flat", {3, 19});
  table.elementwise("one", {1, 1});

  table.normalize("colour", {2, 3, 5, 7});
  table.normalize("grey", {3, 1, 4, 4});

  table.loss("one_hot", 4, 10, 0, false);
  table.loss("smoothed", 5, 7, 0.1, false);
  table.loss("mixed", 3, 10, 0, true);
  table.loss("mixed_smoothed", 4, 3, 0.2, true);
  table.loss("one_sample_two_classes", 1, 2, 0, false);
  return std::move(table).take();
}

std::map<ValueId, std::vector<double>> random_inputs(const Graph& graph, std::uint64_t seed) {
  std::map<ValueId, std::vector<double>> inputs;
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    const Value& value = graph.values[i];
    if (value.kind == ValueKind::kComputed) continue;
    CounterRng rng(seed, 1, i, RandomUse::kTest);
    const auto rows = static_cast<std::size_t>(value.shape[0]);
    Numbers numbers(static_cast<std::size_t>(element_count(value.shape)));
    const auto columns = static_cast<std::uint32_t>(numbers.size() / rows);
    const double spread = value.shape.size() > 1 ? std::sqrt(6.0 / columns) : 0.25;
    for (double& number : numbers) {
      number = value.storage == Storage::kU8
                   ? rng.below(256)
                   : spread * (2 * rng.uniform() - 1) + (value.init == Init::kOnes ? 1 : 0);
    }
    if (value.name == "weights") numbers.assign(rows, 1.0 / static_cast<double>(rows));
    if (value.name == "targets") {
      numbers.assign(numbers.size(), 0);
      for (std::size_t row = 0; row < rows; ++row) numbers[row * columns + rng.below(columns)] = 1;
    }
    inputs[static_cast<ValueId>(i)] = as_f32(std::move(numbers));
  }
  return inputs;
}

}  // namespace winnow::train
