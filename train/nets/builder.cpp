#include "train/nets/builder.h"

#include <utility>

#include "train/nets/projector.h"
#include "train/ops/batch_norm.h"
#include "train/ops/conv2d.h"
#include "train/ops/dropout.h"
#include "train/ops/elementwise.h"
#include "train/ops/linear.h"
#include "train/ops/normalize_input.h"
#include "train/ops/pooling.h"

namespace winnow::train {
namespace {

ValueId input(Graph& graph, std::string name, Shape shape, Storage storage) {
  Value value;
  value.name = std::move(name);
  value.shape = std::move(shape);
  value.kind = ValueKind::kInput;
  value.storage = storage;
  return add_value(graph, std::move(value));
}

}  // namespace

NetBuilder::NetBuilder(const NetOptions& options) : loss_(options.loss) {
  const Shape pixels = {options.batch, options.channels, options.height_px, options.width_px};
  if (find_loss(loss_.name).reads_labels()) {
    targets_ = input(graph_, "targets", {options.batch, options.classes}, Storage::kF32);
  }
  weights_ = input(graph_, "weights", {options.batch}, Storage::kF32);
  image_ =
      add_node(graph_, kNormalizeInput, "image", {input(graph_, "pixels", pixels, Storage::kU8)},
               NormalizeAttributes{options.mean, options.stddev})[0];
}

NetBuilder::NetBuilder(Graph forward, const LossOptions& loss)
    : graph_(std::move(forward)), loss_(loss) {
  if (find_loss(loss_.name).reads_labels()) targets_ = graph_.find("targets");
  weights_ = graph_.find("weights");
}

ValueId NetBuilder::keys() {
  const std::int64_t samples = shape(image_)[0];
  if (keys_ < 0) keys_ = input(graph_, "keys", {samples, kKeyBytes}, Storage::kU8);
  return keys_;
}

ValueId NetBuilder::vector(std::string name, std::int64_t size, ValueKind kind, Init init,
                           std::int64_t fan_in) {
  Value value;
  value.name = std::move(name);
  value.shape = {size};
  value.kind = kind;
  value.storage = Storage::kF32;
  value.init = init;
  value.fan_in = fan_in;
  return add_value(graph_, std::move(value));
}

ValueId NetBuilder::weight(std::string name, Shape shape, Init init, ValueKind kind) {
  Value value;
  value.name = std::move(name);
  value.fan_in = element_count({shape.begin() + 1, shape.end()});
  value.shape = std::move(shape);
  value.kind = kind;
  value.storage = Storage::kF32;
  value.init = init;
  value.decay = kind == ValueKind::kParameter;
  return add_value(graph_, std::move(value));
}

ValueId NetBuilder::add_layer(const Operation& op, const std::string& name,
                              std::vector<ValueId> inputs, Attributes attributes) {
  return add_node(graph_, op, name, std::move(inputs), std::move(attributes))[0];
}

ValueId NetBuilder::conv(const std::string& name, ValueId x, const Conv& conv) {
  const Shape filter = {conv.filters, channels(x), conv.kernel, conv.kernel};
  std::vector<ValueId> inputs = {x, weight(name + ".weight", filter, conv.init)};
  if (conv.bias) {
    inputs.push_back(vector(name + ".bias", conv.filters, ValueKind::kParameter, conv.bias_init,
                            filter[1] * filter[2] * filter[3]));
  }
  ConvAttributes attributes;
  attributes.axes = both_axes(conv.stride, conv.pad, conv.dilation);
  attributes.bias = conv.bias;
  return add_layer(kConv2d, name, std::move(inputs), attributes);
}

ValueId NetBuilder::batch_norm(const std::string& name, ValueId x, const BatchNorm& norm) {
  const std::int64_t c = channels(x);
  const ValueKind trained = norm.trains_scale ? ValueKind::kParameter : ValueKind::kBuffer;
  const ValueId scale = vector(name + ".weight", c, trained, Init::kOnes);
  const ValueId shift = vector(name + ".bias", c, ValueKind::kParameter, Init::kZeros);
  const ValueId mean = vector(name + ".running_mean", c, ValueKind::kBuffer, Init::kZeros);
  const ValueId variance = vector(name + ".running_var", c, ValueKind::kBuffer, Init::kOnes);
  const auto made = add_node(graph_, kBatchNorm, name, {x, scale, shift},
                             NormAttributes{.epsilon = norm.epsilon});
  const std::int64_t samples = element_count(graph_.value(x).shape) / c;
  graph_.outputs.push_back({OutputKind::kMean, made[1], mean, 0, norm.momentum});
  graph_.outputs.push_back({OutputKind::kVariance, made[2], variance, samples, norm.momentum});
  return made[0];
}

ValueId NetBuilder::relu(const std::string& name, ValueId x) { return add_layer(kRelu, name, {x}); }

ValueId NetBuilder::add(const std::string& name, ValueId a, ValueId b) {
  return add_layer(kAdd, name, {a, b});
}

ValueId NetBuilder::max_pool(const std::string& name, ValueId x, int kernel, int stride, int pad) {
  PoolAttributes attributes;
  attributes.kernel_h = kernel;
  attributes.kernel_w = kernel;
  attributes.stride = stride;
  attributes.pad = pad;
  return add_layer(kMaxPool, name, {x}, attributes);
}

ValueId NetBuilder::global_average_pool(const std::string& name, ValueId x) {
  const Shape& shape = graph_.value(x).shape;
  PoolAttributes attributes;
  attributes.kernel_h = static_cast<int>(shape[2]);
  attributes.kernel_w = static_cast<int>(shape[3]);
  return add_layer(kAvgPool, name, {x}, attributes);
}

ValueId NetBuilder::linear(const std::string& name, ValueId x, std::int64_t features,
                           const Linear& linear) {
  const std::int64_t depth = element_count(shape(x)) / shape(x)[0];
  std::vector<ValueId> inputs = {x, weight(name + ".weight", {features, depth}, linear.init)};
  if (linear.bias) {
    inputs.push_back(
        vector(name + ".bias", features, ValueKind::kParameter, linear.bias_init, depth));
  }
  return add_layer(kLinear, name, std::move(inputs), LinearAttributes{linear.bias, {}});
}

Graph NetBuilder::finish(ValueId logits) && {
  const LossRow& row = find_loss(loss_.name);
  const LossNode loss = row.make(loss_);
  std::vector<ValueId> inputs = {logits, targets_, weights_};
  if (!row.reads_labels()) inputs = {add_projector(*this, logits), weights_};
  const auto made = add_node(graph_, *loss.operation, "loss", std::move(inputs), loss.attributes);
  graph_.outputs.push_back({OutputKind::kLoss, made[0], -1, 0});
  graph_.outputs.push_back({OutputKind::kPerSampleLoss, made[1], -1, 0});
  graph_.outputs.push_back({OutputKind::kLogits, logits, -1, 0});
  return std::move(graph_);
}

void NetBuilder::add_local_loss(const std::string& name, ValueId logits, ValueId end) {
  const LossNode loss = find_loss(loss_.name).make(loss_);
  const ValueId weights =
      input(graph_, name + ".weights", graph_.value(weights_).shape, Storage::kF32);
  const auto made = add_node(graph_, *loss.operation, name + ".loss", {logits, targets_, weights},
                             loss.attributes);
  graph_.outputs.push_back({OutputKind::kLocalLoss, made[0], end});
  graph_.outputs.push_back({OutputKind::kLocalPerSampleLoss, made[1], end});
  graph_.outputs.push_back({OutputKind::kLocalLogits, logits, end});
}

}  // namespace winnow::train
