#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/error.h"
#include "train/tensor/tensor.h"

namespace winnow::train {

// A net as data: single-assignment values and the operations between them, in an order that can be
// executed. Built by nets/, changed by the pure functions of rewrites.h, run by backend/.

class ShapeError : public Error {
 public:
  using Error::Error;
};

// N batch, C K channels, H W image, P Q output image, R S kernel, D features. [x]: optional.
enum class OpKind : std::uint8_t {
  // pixels u8 (N,C,H,W) -> y: (pixel/255 - mean_c) / deviation_c
  kNormalizeInput,
  // x, w (K,C,R,S), [b (K)] -> y (N,K,P,Q): cross-correlation, zero padding
  kConv2d,
  kConv2dBackwardData,    // dy, w -> dx
  kConv2dBackwardFilter,  // x, dy -> dw, [db] (db with ConvAttributes::bias)
  // x, scale (C), shift (C), [residual] -> y, mean (C), variance (C): batch statistics over N, H,
  // W,
  // the variance biased; y = scale * (x - mean) / sqrt(variance + epsilon) + shift [+ residual],
  // then ReLU with NormAttributes::relu
  kBatchNorm,
  // x, scale, mean, variance, dy, [y, with relu] -> dx, dscale, dshift, [dresidual, with relu and
  // residual; without relu it is dy itself]
  kBatchNormBackward,
  // x, scale, shift, running_mean, running_var, [residual] -> y
  kBatchNormInference,
  kRelu,          // x -> y
  kReluBackward,  // y, dy -> dx: dy where y > 0
  kAdd,           // a, b -> y
  // x -> y, index (u8: which element of the window, row-major, the first of equals; padding never
  // wins)
  kMaxPool,
  kMaxPoolBackward,  // dy, index -> dx
  kAvgPool,          // x -> y: mean over the whole window, padding counted as zeros
  kAvgPoolBackward,  // dy -> dx
  // x (N,D) or (N,C,H,W) with D = C*H*W in that order, w (K,D), [b (K)] -> y (N,K)
  kLinear,
  kLinearBackwardData,    // dy, w -> dx
  kLinearBackwardWeight,  // x, dy -> dw, [db]
  // logits (N,K), targets (N,K), weights (N) -> loss (1), per_sample (N), with t = (1-s)*target +
  // s/K * sum(target), s the label smoothing: per_sample = -sum t log softmax(logits);
  // loss = sum_n weights_n * per_sample_n
  kSoftmaxCrossEntropy,
  kSoftmaxCrossEntropyBackward,  // logits, targets, weights -> dlogits of loss
};
std::string_view op_name(OpKind op) noexcept;

struct NormalizeAttributes {
  std::vector<float> mean;       // per channel, scale [0, 1]
  std::vector<float> deviation;  // per channel, > 0
};
struct ConvAttributes {
  int stride = 1;
  int pad = 0;
  bool bias = false;
  Shape data_shape;    // of dx, for kConv2dBackwardData
  Shape filter_shape;  // of dw, for kConv2dBackwardFilter
};
struct PoolAttributes {
  int kernel_h = 1;
  int kernel_w = 1;
  int stride = 1;
  int pad = 0;
  Shape data_shape;  // of dx, for the backward operations
};
struct NormAttributes {
  double epsilon = 1e-5;
  bool relu = false;
  bool residual = false;
};
struct LinearAttributes {
  bool bias = false;
  Shape data_shape;  // of dx
};
struct LossAttributes {
  double label_smoothing = 0;
};
using Attributes = std::variant<std::monostate, NormalizeAttributes, ConvAttributes, PoolAttributes,
                                NormAttributes, LinearAttributes, LossAttributes>;

using ValueId = std::int32_t;

enum class ValueKind : std::uint8_t { kInput, kParameter, kBuffer, kComputed };

// What an element is in memory: kCompute is the precision the program was compiled for (f32, bf16).
enum class Storage : std::uint8_t { kCompute, kF32, kU8 };

enum class Init : std::uint8_t {
  kZeros,
  kOnes,
  kKaimingFanOut,  // normal, variance 2 / (K*R*S) (He et al. 2015, as torchvision's ResNets)
  kUniformFanIn,   // uniform in +-1/sqrt(fan in), PyTorch's default of Linear and Conv2d
};

struct Value {
  std::string name;  // parameters and states: torchvision's; others: for people
  Shape shape;
  ValueKind kind = ValueKind::kComputed;
  Storage storage = Storage::kCompute;
  Init init = Init::kZeros;  // parameters and states
  std::int64_t fan_in = 0;   // parameters with kUniformFanIn
  bool decay =
      false;  // parameters: weight decay and LARS scaling apply (weights, not norm or bias)
};

struct Node {
  OpKind op = OpKind::kAdd;
  std::string name;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  Attributes attributes;
};

// What `node` says of its operation; T is the operation's own kind.
template <class T>
const T& attributes_of(const Node& node) {
  return std::get<T>(node.attributes);
}

enum class OutputKind : std::uint8_t {
  kLoss,           // (1), f32
  kPerSampleLoss,  // (N), f32
  kLogits,         // (N,K)
  kGradient,       // of the parameter `of`, f32
  kMean,           // batch mean for the state `of` (a running_mean), f32
  kVariance,       // biased batch variance for the state `of` (a running_var), f32
  kValue,          // any other value somebody wants to read
};

struct Output {
  OutputKind kind = OutputKind::kValue;
  ValueId value = -1;
  ValueId of = -1;  // parameter or state; -1 otherwise
  std::int64_t count =
      0;  // kVariance: elements behind each statistic, N*H*W (unbiased = * n/(n-1))
};

struct Graph {
  std::vector<Value> values;
  std::vector<Node> nodes;      // in executable order
  std::vector<Output> outputs;  // gradients in the order they become ready

  const Value& value(ValueId id) const { return values[static_cast<std::size_t>(id)]; }
  ValueId find(std::string_view name) const;  // throws Error naming it
  std::vector<ValueId> of_kind(ValueKind kind) const;
};

// The values `op` yields: shapes, storage; names "<name>", "<name>.mean", ... Pure. Throws
// ShapeError naming the node and the two extents that disagree.
std::vector<Value> infer(const Graph& graph, OpKind op, const std::string& name,
                         std::span<const ValueId> inputs, const Attributes& attributes);

// Building. add_value takes inputs, parameters and states; add_node infers and appends, and returns
// the outputs. Both throw ShapeError.
ValueId add_value(Graph& graph, Value value);
std::vector<ValueId> add_node(Graph& graph, OpKind op, std::string name,
                              std::vector<ValueId> inputs, Attributes attributes = {});

// One line a node, for people and for comparing: "%7 = conv2d(%3, %4) stride=1 pad=1 ->
// (64,16,32,32)". Before them a line for each input, parameter and state, after them one for each
// output; equal texts mean equal graphs up to the names of computed values.
std::string to_text(const Graph& graph);

struct Counts {
  // 2 a multiply-add of the convolutions, linear layers and their backward operations, padding
  // counted as if it were data; the other operations are bound by their bytes.
  double flops = 0;
  double bytes = 0;  // every operand of every node once, at 4 bytes an f32 or compute element
  std::int64_t parameters = 0;
};
Counts count(const Graph& graph);

}  // namespace winnow::train
