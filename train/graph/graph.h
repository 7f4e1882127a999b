#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "train/graph/attributes.h"
#include "train/graph/operation.h"
#include "train/tensor/tensor.h"

namespace winnow::train {

// A net as data: single-assignment values and the operations between them, in executable order.
// Built by nets/, transformed by the pure functions of rewrites/, executed by backend/.

class ShapeError : public Error {
 public:
  using Error::Error;
};

using ValueId = std::int32_t;

enum class ValueKind : std::uint8_t { kInput, kParameter, kBuffer, kComputed };

// How elements are stored. kCompute is the precision that the program was compiled for, such as f32
// or bf16.
enum class Storage : std::uint8_t { kCompute, kF32, kU8 };

enum class Init : std::uint8_t {
  kZeros,
  kOnes,
  kKaimingFanOut,  // normal, variance 2 / (K*R*S) (He et al. 2015, as torchvision's ResNets)
  kUniformFanIn,   // uniform in +-1/sqrt(fan in), PyTorch's default for Linear and Conv2d
  kKaimingFanIn,   // normal, variance 2 / (fan in), as torchvision's DenseNets
  kUniformFanOut,  // uniform in +-1/sqrt(K), the last layer of torchvision's EfficientNets
  kNormal001,      // normal, stddev 0.01, linear layers of torchvision's VGG and MobileNets
  kNormal002,      // normal, stddev 0.02, torchvision's ConvNeXts
  kMillionth,      // 1e-6, layer scale of ConvNeXts
  kXavierUniform,  // uniform in +-sqrt(6 / (fan in + K)) (Glorot and Bengio 2010)
  kLecunNormal,    // normal, variance 1 / (fan in), patches of torchvision's ViTs
  kNormal1e6,      // normal, stddev 1e-6, biases between the linear layers of ViTs
  kDirac,          // the first filters copy one channel each; the others are as kUniformFanIn
  kWhitening,      // from the training images (train/model/whitening.h); otherwise as kUniformFanIn
};

struct Value {
  std::string name;  // parameters and buffers: torchvision's name; others: for messages
  Shape shape;
  ValueKind kind = ValueKind::kComputed;
  Storage storage = Storage::kCompute;
  Init init = Init::kZeros;  // for parameters and buffers
  std::int64_t fan_in = 0;   // for parameters whose init needs it
  // For parameters: weight decay and LARS scaling apply. True for weights, false for norms and
  // biases.
  bool decay = false;
};

struct Node {
  const Operation* op = nullptr;
  std::string name;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  Attributes attributes;
};

[[noreturn]] void throw_other_attributes(const Node& node);

// The attributes of `node`. T is the attribute type of its operation; throws Error if they have
// another type.
template <class T>
const T& attributes_of(const Node& node) {
  const T* found = node.attributes.find<T>();
  if (found == nullptr) throw_other_attributes(node);
  return *found;
}

enum class OutputKind : std::uint8_t {
  kLoss,           // (1), f32
  kPerSampleLoss,  // (N), f32
  kLogits,         // (N,K)
  kGradient,       // gradient of the parameter `of`, f32
  kMean,           // batch mean for the buffer `of` (a running_mean), f32
  kVariance,       // biased batch variance for the buffer `of` (a running_var), f32
  kValue,          // any other value that is read
  // Statistics that the micro-batches of a step share, (C), f32. As soon as one is computed, the
  // step replaces this micro-batch's value by that of all micro-batches (train/reduce/exchange.h).
  kSharedMean,      // a mean
  kSharedVariance,  // a biased variance around the kSharedMean `of`
  // Loss and logits of the head of the stage that ends with the value `of`; otherwise like those
  // without Local in their name.
  kLocalLoss,
  kLocalPerSampleLoss,
  kLocalLogits,
};

// Momentum of batch norm's running statistics, PyTorch's default: running = (1 - m) * running + m *
// the step's mean or variance.
inline constexpr double kBatchNormMomentum = 0.1;

struct Output {
  OutputKind kind = OutputKind::kValue;
  ValueId value = -1;
  // A parameter or buffer; for kSharedVariance its mean; for local outputs the end of their stage;
  // otherwise -1.
  ValueId of = -1;
  // kVariance: number of elements per statistic, n = N*H*W (unbiased = * n/(n-1)).
  std::int64_t count = 0;
  double momentum = kBatchNormMomentum;  // for kMean and kVariance
};

inline bool is_shared(const Output& output) {
  return output.kind == OutputKind::kSharedMean || output.kind == OutputKind::kSharedVariance;
}

inline bool is_local(const Output& output) {
  return output.kind == OutputKind::kLocalLoss || output.kind == OutputKind::kLocalPerSampleLoss ||
         output.kind == OutputKind::kLocalLogits;
}

struct Graph {
  std::vector<Value> values;
  std::vector<Node> nodes;      // in executable order
  std::vector<Output> outputs;  // gradients in the order in which they become ready

  const Value& value(ValueId id) const { return values[static_cast<std::size_t>(id)]; }
  ValueId find(std::string_view name) const;  // throws Error naming it
  std::vector<ValueId> of_kind(ValueKind kind) const;
};

// Infers the output values of `op`: shapes, storage, and names "<name>", "<name>.mean", ...
// Pure. Throws ShapeError, naming the node and the two extents that disagree.
std::vector<Value> infer(const Graph& graph, const Operation& op, const std::string& name,
                         std::span<const ValueId> inputs, const Attributes& attributes);

// Limit for the elements of a value, because libraries count elements in 32 bits in places.
inline constexpr std::int64_t kMostElements = (std::int64_t{1} << 31) - 1;

// Adds an input, parameter or buffer. Throws ShapeError; UsageError above kMostElements.
ValueId add_value(Graph& graph, Value value);
// Appends a node, infers its outputs and returns them. Throws the same errors; then nothing is
// added.
std::vector<ValueId> add_node(Graph& graph, const Operation& op, std::string name,
                              std::vector<ValueId> inputs, Attributes attributes = {});

// The graph as text, one line a node: "%7 = conv2d(%3, %4) stride=1 pad=1 -> (64,16,32,32)".
// Before the nodes, a line for each input, parameter and buffer; after them, one for each output.
// Equal texts mean equal graphs, except for the names of computed values.
std::string to_text(const Graph& graph);

struct Counts {
  double flops = 0;  // 2 for a multiply-add; operations without any are limited by their bytes
  double bytes = 0;  // every operand of every node once, with 4 bytes for an f32 or compute element
  std::int64_t parameters = 0;
};
Counts count(const Graph& graph);

}  // namespace winnow::train
