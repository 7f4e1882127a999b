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

// A net as data: values that are assigned once, and the operations between them, in executable
// order. Built by nets/, transformed by the pure functions of rewrites/, executed by backend/.

class ShapeError : public Error {
 public:
  using Error::Error;
};

using ValueId = std::int32_t;

enum class ValueKind : std::uint8_t { kInput, kParameter, kBuffer, kComputed };

// How the elements of a value are stored. kCompute stands for the type that the program is compiled
// for, such as f32 or bf16.
enum class Storage : std::uint8_t { kCompute, kF32, kU8 };

enum class Init : std::uint8_t {
  kZeros,
  kOnes,
  // Normal, variance 2 / (K*R*S) for K output channels and R x S filters (He et al. 2015, as
  // torchvision's ResNets).
  kKaimingFanOut,
  kUniformFanIn,  // uniform in +-1/sqrt(fan in), PyTorch's default for Linear and Conv2d
  kKaimingFanIn,  // normal, variance 2 / (fan in), as torchvision's DenseNets
  // Uniform in +-1/sqrt(K) for K outputs, the last layer of torchvision's EfficientNets.
  kUniformFanOut,
  kNormal001,      // normal, stddev 0.01, linear layers of torchvision's VGG and MobileNets
  kNormal002,      // normal, stddev 0.02, torchvision's ConvNeXts
  kMillionth,      // constant 1e-6, the layer scale of torchvision's ConvNeXts
  kXavierUniform,  // uniform in +-sqrt(6 / (fan in + K)) for K outputs (Glorot and Bengio 2010)
  kLecunNormal,    // normal, variance 1 / (fan in), the patch embedding of torchvision's ViTs
  kNormal1e6,      // normal, stddev 1e-6, biases of the MLP layers of torchvision's ViTs
  // As many filters as there are input channels copy one channel each; others are as kUniformFanIn.
  kDirac,
  // Whitening filters from training images (train/model/whitening.h); until then as kUniformFanIn.
  kWhitening,
};

struct Value {
  // Torchvision's name for a parameter or buffer; for other values a name for messages.
  std::string name;
  Shape shape;
  ValueKind kind = ValueKind::kComputed;
  Storage storage = Storage::kCompute;
  Init init = Init::kZeros;  // initial values of a parameter or buffer
  // Number of inputs of each output element, for parameters whose `init` needs it.
  std::int64_t fan_in = 0;
  // For a parameter: whether weight decay and LARS scaling apply to it. True for weights, false for
  // norms and biases.
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

// Returns the attributes of `node`. T is the attribute type of its operation. Throws Error if they
// have another type.
template <class T>
const T& attributes_of(const Node& node) {
  const T* found = node.attributes.find<T>();
  if (found == nullptr) throw_other_attributes(node);
  return *found;
}

enum class OutputKind : std::uint8_t {
  kLoss,           // mean loss, shape (1), f32
  kPerSampleLoss,  // loss of each sample, shape (N), f32
  kLogits,         // logits, shape (N, classes)
  kGradient,       // gradient of the parameter that `of` names, f32
  kMean,           // batch mean for the buffer that `of` names (a running_mean), f32
  kVariance,       // biased batch variance for the buffer that `of` names (a running_var), f32
  kValue,          // any other value that the caller reads
  // Batch statistics for synchronised batch norm, shape (C), f32. As soon as one is computed, the
  // step replaces this micro-batch's value by that of all micro-batches (train/reduce/exchange.h).
  kSharedMean,  // mean over the micro-batches
  // Biased variance over the micro-batches, around the kSharedMean that `of` names.
  kSharedVariance,
  // Loss and logits of a local head (auxiliary classifier), which belongs to the stage that ends
  // with the value `of`. Otherwise like the kinds without Local in their name.
  kLocalLoss,
  kLocalPerSampleLoss,
  kLocalLogits,
};

// Momentum m of batch norm's running statistics, PyTorch's default: running = (1 - m) * running + m
// * batch, where batch is the step's mean or variance.
inline constexpr double kBatchNormMomentum = 0.1;

struct Output {
  OutputKind kind = OutputKind::kValue;
  ValueId value = -1;
  // The value that this output refers to: a parameter or buffer; for kSharedVariance its mean; for
  // local outputs the last value of their stage; otherwise -1.
  ValueId of = -1;
  // For kVariance: number n = N*H*W of elements per statistic. The unbiased variance is the biased
  // one times n/(n-1).
  std::int64_t count = 0;
  // Momentum of the running statistics, for kMean and kVariance.
  double momentum = kBatchNormMomentum;
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
  std::vector<Node> nodes;      // nodes in executable order
  std::vector<Output> outputs;  // gradients in the order in which they become ready

  const Value& value(ValueId id) const { return values[static_cast<std::size_t>(id)]; }
  // Finds a value by name; throws Error if there is none.
  ValueId find(std::string_view name) const;
  std::vector<ValueId> of_kind(ValueKind kind) const;
};

// Infers the output values of `op`: shapes, storage, and names "<name>", "<name>.mean", ... Pure.
// Throws  ShapeError, naming the node and the two extents that disagree.
std::vector<Value> infer(const Graph& graph, const Operation& op, const std::string& name,
                         std::span<const ValueId> inputs, const Attributes& attributes);

// Largest number of elements of a value, because libraries count elements in 32 bits in places.
inline constexpr std::int64_t kMostElements = (std::int64_t{1} << 31) - 1;

// Adds an input, parameter or buffer. Returns its id.
// Throws  ShapeError: an invalid shape. UsageError: more than kMostElements.
ValueId add_value(Graph& graph, Value value);
// Appends a node, infers its outputs and returns their ids.
// Throws  ShapeError, UsageError as infer() and add_value(); then nothing is added.
std::vector<ValueId> add_node(Graph& graph, const Operation& op, std::string name,
                              std::vector<ValueId> inputs, Attributes attributes = {});

// The graph as text, one line a node: "%7 = conv2d(%3, %4) stride=1 pad=1 -> (64,16,32,32)".
// Before the nodes, a line for each input, parameter and buffer; after them, one for each output.
// Equal texts mean equal graphs, except for the names of computed values.
std::string to_text(const Graph& graph);

struct Counts {
  // Floating-point operations, 2 for a multiply-add; only operations that have multiply-adds count.
  double flops = 0;
  // Bytes of every operand of every node, each once, with 4 bytes for an f32 or compute element.
  double bytes = 0;
  std::int64_t parameters = 0;
};
Counts count(const Graph& graph);

}  // namespace winnow::train
