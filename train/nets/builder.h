#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "train/graph/graph.h"
#include "train/nets/nets.h"

namespace winnow::train {

// Builds a net's graph layer by layer.
// Layers  Each function for a layer adds the layer's parameters under torchvision's names and
//         returns the value that the layer computes. `name` is the layer's name, such as
//         "layer1.0.conv1".
// Others  Layers that are not members are free functions that call weight(), vector() and
//         add_layer().
class NetBuilder {
 public:
  // Starts a graph with the inputs that every net has. Throws ShapeError for inconsistent options.
  explicit NetBuilder(const NetOptions& options);
  // Continues the forward graph of a net whose loss was made from `loss`.
  NetBuilder(Graph forward, const LossOptions& loss);

  ValueId image() const { return image_; }  // the net's input after normalisation, (N,C,H,W)
  ValueId keys();                           // keys of random numbers (train/ops/dropout.h)
  // Returns 1, 2, ... in turn: a number that distinguishes the operations that draw random numbers.
  std::uint64_t next_random_operation() { return ++random_operations_; }
  const Graph& graph() const { return graph_; }  // the graph so far
  const Shape& shape(ValueId x) const { return graph_.value(x).shape; }
  std::int64_t channels(ValueId x) const { return shape(x)[1]; }

  struct Conv {
    std::int64_t filters = 1;
    int kernel = 1;
    int stride = 1;
    int pad = 0;
    bool bias = false;
    Init init = Init::kKaimingFanOut;
    Init bias_init = Init::kUniformFanIn;
    int dilation = 1;
  };
  ValueId conv(const std::string& name, ValueId x, const Conv& conv);
  struct BatchNorm {
    double epsilon = 1e-5;
    double momentum = kBatchNormMomentum;  // momentum of the running statistics
    bool trains_scale = true;              // whether the scale is trained; false: it stays 1
  };
  // Adds a batch norm. Its running statistics become buffers; the batch's statistics become graph
  // outputs.
  ValueId batch_norm(const std::string& name, ValueId x) { return batch_norm(name, x, {}); }
  ValueId batch_norm(const std::string& name, ValueId x, const BatchNorm& norm);
  ValueId relu(const std::string& name, ValueId x);
  ValueId add(const std::string& name, ValueId a, ValueId b);
  ValueId max_pool(const std::string& name, ValueId x, int kernel, int stride, int pad = 0);
  ValueId global_average_pool(const std::string& name, ValueId x);
  struct Linear {
    bool bias = true;
    Init init = Init::kUniformFanIn;
    Init bias_init = Init::kUniformFanIn;
  };
  ValueId linear(const std::string& name, ValueId x, std::int64_t features) {
    return linear(name, x, features, {});
  }
  ValueId linear(const std::string& name, ValueId x, std::int64_t features, const Linear& linear);

  // Adds a filter, or the weight of a linear layer: a parameter with weight decay; or, if it is not
  // trained, a buffer.
  ValueId weight(std::string name, Shape shape, Init init, ValueKind kind = ValueKind::kParameter);
  // Adds a parameter without weight decay, or a buffer, with `size` elements.
  ValueId vector(std::string name, std::int64_t size, ValueKind kind, Init init,
                 std::int64_t fan_in = 0);
  // Appends a node and returns its first output.
  ValueId add_layer(const Operation& op, const std::string& name, std::vector<ValueId> inputs,
                    Attributes attributes = {});

  // Appends the loss of the logits and returns the graph. For a loss that reads no labels, first
  // appends a projector (train/nets/projector.h) to `logits`.
  Graph finish(ValueId logits) &&;

  // Adds the loss of a local head (auxiliary classifier): its logits against the net's targets.
  // weights  A new input "<name>.weights", one for each sample.
  // end      The last value of the stage to which the head belongs.
  void add_local_loss(const std::string& name, ValueId logits, ValueId end);
  Graph take() && { return std::move(graph_); }

 private:
  Graph graph_;
  LossOptions loss_;
  ValueId image_ = -1;
  ValueId targets_ = -1;  // class targets; -1 for a loss that reads no labels
  ValueId weights_ = -1;
  ValueId keys_ = -1;
  std::uint64_t random_operations_ = 0;
};

}  // namespace winnow::train
