#include <string>
#include <utility>

#include "train/graph/graph.h"

namespace winnow::train {
namespace {

std::string text(std::int64_t number) { return std::to_string(number); }

// The operands of one node to be, and the checks every operation shares.
class Operands {
 public:
  Operands(const Graph& graph, OpKind op, const std::string& name, std::span<const ValueId> inputs,
           const Attributes& attributes)
      : graph_(graph), op_(op), name_(name), inputs_(inputs), attributes_(attributes) {
    for (const ValueId id : inputs) {
      if (id < 0 || static_cast<std::size_t>(id) >= graph.values.size()) {
        fail("there is no value %" + text(id));
      }
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw ShapeError(std::string(op_name(op_)) + " '" + name_ + "': " + what);
  }

  template <class T>
  const T& attributes() const {
    const T* found = std::get_if<T>(&attributes_);
    if (found == nullptr) fail("the attributes are of another operation");
    return *found;
  }
  void no_attributes() const { attributes<std::monostate>(); }

  void arity(std::size_t wanted) const {
    if (inputs_.size() != wanted) {
      fail("takes " + std::to_string(wanted) + " inputs, got " + std::to_string(inputs_.size()));
    }
  }
  const Value& value(std::size_t i) const { return graph_.value(inputs_[i]); }

  const Shape& rank(std::size_t i, std::size_t wanted) const {
    const Shape& shape = value(i).shape;
    if (shape.size() != wanted) {
      fail("'" + value(i).name + "' has " + std::to_string(shape.size()) + " extents " +
           to_string(shape) + ", wanted " + std::to_string(wanted));
    }
    return shape;
  }
  void storage(std::size_t i, Storage wanted) const {
    if ((value(i).storage == Storage::kU8) != (wanted == Storage::kU8)) {
      fail("'" + value(i).name + "' must " + (wanted == Storage::kU8 ? "" : "not ") + "be bytes");
    }
  }
  void extent(std::string_view what, std::int64_t got, std::int64_t wanted) const {
    if (got != wanted) {
      fail(std::string(what) + " is " + text(got) + ", wanted " + text(wanted));
    }
  }
  void same(std::string_view what, const Shape& got, const Shape& wanted) const {
    if (got != wanted) {
      fail("the shape of " + std::string(what) + " is " + to_string(got) + ", wanted " +
           to_string(wanted));
    }
  }
  void same_as(std::size_t i, const Shape& wanted) const {
    storage(i, Storage::kCompute);
    same("'" + value(i).name + "'", value(i).shape, wanted);
  }

  // Windows of `kernel` elements that fit into `size` elements with `pad` zeros at both ends.
  std::int64_t windows(std::int64_t size, std::int64_t kernel, std::int64_t stride,
                       std::int64_t pad) const {
    if (stride < 1) fail("stride " + text(stride) + " must be at least 1");
    if (pad < 0) fail("pad " + text(pad) + " must not be negative");
    if (kernel < 1) fail("a kernel of " + text(kernel) + " elements must have at least 1");
    if (size + 2 * pad < kernel) {
      fail("a kernel of " + text(kernel) + " does not fit into " + text(size) +
           " elements padded by " + text(pad));
    }
    return (size + 2 * pad - kernel) / stride + 1;
  }

  Shape convolved(const Shape& x, const Shape& w, const ConvAttributes& conv) const {
    if (x.size() != 4 || w.size() != 4) {
      fail("data " + to_string(x) + " and filter " + to_string(w) + " must have 4 extents each");
    }
    extent("the number of channels of the filter", w[1], x[1]);
    return {x[0], w[0], windows(x[2], w[2], conv.stride, conv.pad),
            windows(x[3], w[3], conv.stride, conv.pad)};
  }
  // With pad < kernel every window holds an element that is no padding.
  Shape pooled(const Shape& x, const PoolAttributes& pool) const {
    if (x.size() != 4) fail("data " + to_string(x) + " must have 4 extents");
    if (pool.pad >= pool.kernel_h || pool.pad >= pool.kernel_w) {
      fail("pad " + text(pool.pad) + " must be below the window's extents " + text(pool.kernel_h) +
           " and " + text(pool.kernel_w));
    }
    return {x[0], x[1], windows(x[2], pool.kernel_h, pool.stride, pool.pad),
            windows(x[3], pool.kernel_w, pool.stride, pool.pad)};
  }
  // (N, D) of (N, D) or (N, C, H, W).
  Shape flat(const Shape& x) const {
    if (x.size() != 2 && x.size() != 4) fail("data " + to_string(x) + " must have 2 or 4 extents");
    return {x[0], element_count(x) / x[0]};
  }

  Value made(const std::string& suffix, Shape shape, Storage storage) const {
    Value value;
    value.name = name_ + suffix;
    value.shape = std::move(shape);
    value.storage = storage;
    return value;
  }
  Value computed(Shape shape) const { return made("", std::move(shape), Storage::kCompute); }

 private:
  const Graph& graph_;
  OpKind op_;
  const std::string& name_;
  std::span<const ValueId> inputs_;
  const Attributes& attributes_;
};

std::vector<Value> infer_normalize(const Operands& in) {
  in.arity(1);
  const auto& normalize = in.attributes<NormalizeAttributes>();
  const Shape& x = in.rank(0, 4);
  in.storage(0, Storage::kU8);
  in.extent("the number of means", static_cast<std::int64_t>(normalize.mean.size()), x[1]);
  in.extent("the number of deviations", static_cast<std::int64_t>(normalize.deviation.size()),
            x[1]);
  for (const float deviation : normalize.deviation) {
    if (!(deviation > 0)) in.fail("a deviation is " + std::to_string(deviation) + ", must be > 0");
  }
  return {in.computed(x)};
}

std::vector<Value> infer_conv(const Operands& in) {
  const auto& conv = in.attributes<ConvAttributes>();
  in.arity(conv.bias ? 3 : 2);
  const Shape y = in.convolved(in.rank(0, 4), in.rank(1, 4), conv);
  in.storage(0, Storage::kCompute);
  in.storage(1, Storage::kF32);
  if (conv.bias) in.same_as(2, {y[1]});
  return {in.computed(y)};
}

std::vector<Value> infer_conv_backward_data(const Operands& in) {
  in.arity(2);
  const auto& conv = in.attributes<ConvAttributes>();
  in.same_as(0, in.convolved(conv.data_shape, in.rank(1, 4), conv));
  in.storage(1, Storage::kF32);
  return {in.computed(conv.data_shape)};
}

std::vector<Value> infer_conv_backward_filter(const Operands& in) {
  in.arity(2);
  const auto& conv = in.attributes<ConvAttributes>();
  in.same_as(1, in.convolved(in.rank(0, 4), conv.filter_shape, conv));
  in.storage(0, Storage::kCompute);
  std::vector<Value> out = {in.made("", conv.filter_shape, Storage::kF32)};
  if (conv.bias) out.push_back(in.made(".bias", {conv.filter_shape[0]}, Storage::kF32));
  return out;
}

// x and `vectors` inputs of C elements behind it.
const Shape& check_norm(const Operands& in, std::size_t vectors) {
  const auto& norm = in.attributes<NormAttributes>();
  const Shape& x = in.rank(0, 4);
  in.storage(0, Storage::kCompute);
  if (!(norm.epsilon > 0)) in.fail("epsilon must be > 0");
  for (std::size_t i = 1; i <= vectors; ++i) in.same_as(i, {x[1]});
  return x;
}

std::vector<Value> infer_batch_norm(const Operands& in) {
  const bool residual = in.attributes<NormAttributes>().residual;
  in.arity(residual ? 4 : 3);
  const Shape& x = check_norm(in, 2);
  if (residual) in.same_as(3, x);
  return {in.computed(x), in.made(".mean", {x[1]}, Storage::kF32),
          in.made(".variance", {x[1]}, Storage::kF32)};
}

std::vector<Value> infer_batch_norm_backward(const Operands& in) {
  const auto& norm = in.attributes<NormAttributes>();
  in.arity(norm.relu ? 6 : 5);
  const Shape& x = check_norm(in, 3);
  in.same_as(4, x);
  if (norm.relu) in.same_as(5, x);
  std::vector<Value> out = {in.computed(x), in.made(".scale", {x[1]}, Storage::kF32),
                            in.made(".shift", {x[1]}, Storage::kF32)};
  if (norm.relu && norm.residual) out.push_back(in.made(".residual", x, Storage::kCompute));
  return out;
}

std::vector<Value> infer_batch_norm_inference(const Operands& in) {
  const bool residual = in.attributes<NormAttributes>().residual;
  in.arity(residual ? 6 : 5);
  const Shape& x = check_norm(in, 4);
  if (residual) in.same_as(5, x);
  return {in.computed(x)};
}

std::vector<Value> infer_elementwise(const Operands& in, std::size_t inputs) {
  in.arity(inputs);
  in.no_attributes();
  const Shape& shape = in.value(0).shape;
  Storage storage = Storage::kF32;
  for (std::size_t i = 0; i < inputs; ++i) {
    in.same_as(i, shape);
    if (in.value(i).storage == Storage::kCompute) storage = Storage::kCompute;
  }
  return {in.made("", shape, storage)};
}

std::vector<Value> infer_max_pool(const Operands& in) {
  in.arity(1);
  const auto& pool = in.attributes<PoolAttributes>();
  const Shape y = in.pooled(in.rank(0, 4), pool);
  in.storage(0, Storage::kCompute);
  if (pool.kernel_h * pool.kernel_w > 256) {
    in.fail("a window of " + text(pool.kernel_h) + " x " + text(pool.kernel_w) +
            " elements exceeds the 256 that a byte can tell apart");
  }
  return {in.computed(y), in.made(".index", y, Storage::kU8)};
}

std::vector<Value> infer_avg_pool(const Operands& in) {
  in.arity(1);
  const Shape y = in.pooled(in.rank(0, 4), in.attributes<PoolAttributes>());
  in.storage(0, Storage::kCompute);
  return {in.computed(y)};
}

std::vector<Value> infer_pool_backward(const Operands& in, bool index) {
  in.arity(index ? 2 : 1);
  const auto& pool = in.attributes<PoolAttributes>();
  const Shape y = in.pooled(pool.data_shape, pool);
  in.same_as(0, y);
  if (index) {
    in.storage(1, Storage::kU8);
    in.same("'" + in.value(1).name + "'", in.value(1).shape, y);
  }
  return {in.computed(pool.data_shape)};
}

std::vector<Value> infer_linear(const Operands& in) {
  const bool bias = in.attributes<LinearAttributes>().bias;
  in.arity(bias ? 3 : 2);
  const Shape x = in.flat(in.value(0).shape);
  const Shape& w = in.rank(1, 2);
  in.storage(0, Storage::kCompute);
  in.storage(1, Storage::kF32);
  in.extent("the number of features of the weight", w[1], x[1]);
  if (bias) in.same_as(2, {w[0]});
  return {in.computed({x[0], w[0]})};
}

std::vector<Value> infer_linear_backward_data(const Operands& in) {
  in.arity(2);
  const auto& linear = in.attributes<LinearAttributes>();
  const Shape x = in.flat(linear.data_shape);
  const Shape& w = in.rank(1, 2);
  in.storage(1, Storage::kF32);
  in.extent("the number of features of the weight", w[1], x[1]);
  in.same_as(0, {x[0], w[0]});
  return {in.computed(linear.data_shape)};
}

std::vector<Value> infer_linear_backward_filter(const Operands& in) {
  in.arity(2);
  const bool bias = in.attributes<LinearAttributes>().bias;
  const Shape x = in.flat(in.value(0).shape);
  const Shape& dy = in.rank(1, 2);
  in.storage(0, Storage::kCompute);
  in.storage(1, Storage::kCompute);
  in.extent("the batch of the gradient", dy[0], x[0]);
  std::vector<Value> out = {in.made("", {dy[1], x[1]}, Storage::kF32)};
  if (bias) out.push_back(in.made(".bias", {dy[1]}, Storage::kF32));
  return out;
}

const Shape& check_loss(const Operands& in) {
  in.arity(3);
  const double smoothing = in.attributes<LossAttributes>().label_smoothing;
  if (!(smoothing >= 0 && smoothing < 1)) {
    in.fail("label smoothing " + std::to_string(smoothing) + " must be in [0, 1)");
  }
  const Shape& logits = in.rank(0, 2);
  in.storage(0, Storage::kCompute);
  in.same_as(1, logits);
  in.same_as(2, {logits[0]});
  return logits;
}

std::vector<Value> infer_loss(const Operands& in) {
  const Shape& logits = check_loss(in);
  return {in.made("", {1}, Storage::kF32), in.made(".per_sample", {logits[0]}, Storage::kF32)};
}

}  // namespace

std::vector<Value> infer(const Graph& graph, OpKind op, const std::string& name,
                         std::span<const ValueId> inputs, const Attributes& attributes) {
  const Operands in(graph, op, name, inputs, attributes);
  switch (op) {
    case OpKind::kNormalizeInput:
      return infer_normalize(in);
    case OpKind::kConv2d:
      return infer_conv(in);
    case OpKind::kConv2dBackwardData:
      return infer_conv_backward_data(in);
    case OpKind::kConv2dBackwardFilter:
      return infer_conv_backward_filter(in);
    case OpKind::kBatchNorm:
      return infer_batch_norm(in);
    case OpKind::kBatchNormBackward:
      return infer_batch_norm_backward(in);
    case OpKind::kBatchNormInference:
      return infer_batch_norm_inference(in);
    case OpKind::kRelu:
      return infer_elementwise(in, 1);
    case OpKind::kReluBackward:
    case OpKind::kAdd:
      return infer_elementwise(in, 2);
    case OpKind::kMaxPool:
      return infer_max_pool(in);
    case OpKind::kMaxPoolBackward:
      return infer_pool_backward(in, true);
    case OpKind::kAvgPool:
      return infer_avg_pool(in);
    case OpKind::kAvgPoolBackward:
      return infer_pool_backward(in, false);
    case OpKind::kLinear:
      return infer_linear(in);
    case OpKind::kLinearBackwardData:
      return infer_linear_backward_data(in);
    case OpKind::kLinearBackwardWeight:
      return infer_linear_backward_filter(in);
    case OpKind::kSoftmaxCrossEntropy:
      return infer_loss(in);
    case OpKind::kSoftmaxCrossEntropyBackward:
      return {in.computed(check_loss(in))};
  }
  in.fail("unknown operation");
}

}  // namespace winnow::train
