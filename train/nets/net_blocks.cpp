#include "train/nets/net_blocks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "train/nets/activation.h"
#include "train/nets/convnext_block.h"
#include "train/nets/dropout.h"
#include "train/nets/grouped_conv.h"
#include "train/nets/inverted_residual.h"
#include "train/nets/layer_norm.h"
#include "train/nets/preactivation.h"
#include "train/nets/residual_blocks.h"
#include "train/ops/pooling.h"

namespace winnow::train {
namespace {

using At = BlockPlace;
using Values = BlockValues;

template <class Row, std::size_t n>
constexpr std::array<std::string_view, n> names_of(const std::array<Row, n>& rows) {
  std::array<std::string_view, n> names;
  std::ranges::transform(rows, names.begin(), &Row::name);
  return names;
}

struct NamedActivation {
  std::string_view name;
  std::optional<ActivationKind> kind;  // nullopt: ReLU, which is a separate operation
};
constexpr std::array kActivations{NamedActivation{"relu", {}},
                                  NamedActivation{"relu6", ActivationKind::kRelu6},
                                  NamedActivation{"sigmoid", ActivationKind::kSigmoid},
                                  NamedActivation{"hard_sigmoid", ActivationKind::kHardSigmoid},
                                  NamedActivation{"hard_swish", ActivationKind::kHardSwish},
                                  NamedActivation{"silu", ActivationKind::kSilu},
                                  NamedActivation{"gelu", ActivationKind::kGelu}};
constexpr auto kActivationNames = names_of(kActivations);

struct NamedInit {
  std::string_view name;
  Init init;
};
constexpr std::array kInits{NamedInit{"kaiming_fan_out", Init::kKaimingFanOut},
                            NamedInit{"uniform_fan_in", Init::kUniformFanIn},
                            NamedInit{"kaiming_fan_in", Init::kKaimingFanIn},
                            NamedInit{"uniform_fan_out", Init::kUniformFanOut},
                            NamedInit{"normal_0.01", Init::kNormal001},
                            NamedInit{"normal_0.02", Init::kNormal002}};
constexpr auto kInitNames = names_of(kInits);

constexpr double kHalfTheKernel = -1;
constexpr double kTheKernel = 0;
constexpr int kOneAClass = 0;

constexpr BlockKey width_or(double initial) {
  return {.name = "width", .initial = initial, .least = 1, .most = kMostWidth};
}
constexpr BlockKey kernel_or(double initial) {
  return {.name = "kernel", .initial = initial, .least = 1, .most = 63};
}
constexpr BlockKey stride_or(double initial) {
  return {.name = "stride", .initial = initial, .least = 1, .most = 32};
}
constexpr BlockKey pad_or(double initial) {
  return {.name = "pad", .initial = initial, .least = 0, .most = 31};
}
constexpr BlockKey activation_or(std::string_view initial) {
  const auto at = std::ranges::find(kActivationNames, initial) - kActivationNames.begin();
  return {.name = "activation",
          .kind = KeyKind::kWord,
          .initial = static_cast<double>(at),
          .words = kActivationNames};
}
constexpr BlockKey init_or(double initial) {
  return {.name = "init", .kind = KeyKind::kWord, .initial = initial, .words = kInitNames};
}
constexpr BlockKey epsilon_or(double initial) {
  return {.name = "epsilon", .kind = KeyKind::kReal, .initial = initial, .least = 1e-12, .most = 1};
}
constexpr BlockKey bias_or(double initial) {
  return {.name = "bias", .kind = KeyKind::kSwitch, .initial = initial};
}
constexpr BlockKey squeeze_or(double initial) {
  return {.name = "squeeze_excite", .kind = KeyKind::kReal, .initial = initial, .most = 1};
}
constexpr BlockKey kWidth = width_or(kMustBeGiven);
constexpr BlockKey kStride = stride_or(1);
constexpr BlockKey kGroups{.name = "groups", .initial = 1, .least = 1, .most = kMostWidth};
constexpr BlockKey kInner{.name = "inner_width", .initial = 0, .least = 1, .most = kMostWidth};
constexpr BlockKey kExpand{
    .name = "expand", .kind = KeyKind::kReal, .initial = 6, .least = 1. / 64, .most = 64};
constexpr BlockKey kRate{
    .name = "rate", .kind = KeyKind::kReal, .initial = kMustBeGiven, .least = 0, .most = 0.99};

constexpr std::array kConvKeys{kWidth,  kernel_or(3), kStride,   pad_or(kHalfTheKernel),
                               kGroups, bias_or(0),   init_or(0)};
constexpr std::array kConvBnReluKeys{
    kWidth,  kernel_or(3),          kStride,   pad_or(kHalfTheKernel),
    kGroups, activation_or("relu"), init_or(0)};
constexpr std::array kBatchNormKeys{epsilon_or(1e-5)};
constexpr std::array kLayerNormKeys{epsilon_or(kConvnextEpsilon)};
constexpr std::array kActivationKeys{activation_or("relu")};
constexpr std::array kPoolKeys{kernel_or(2), stride_or(kTheKernel), pad_or(0)};
constexpr std::array kBasicKeys{kWidth, kStride};
constexpr std::array kBottleneckKeys{kWidth, kStride, kGroups, kInner};
constexpr std::array kInvertedResidualKeys{kWidth,  kernel_or(3),  kStride,
                                           kExpand, squeeze_or(0), activation_or("relu6")};
constexpr std::array kMbconvKeys{kWidth,  kernel_or(3),     kStride,
                                 kExpand, squeeze_or(0.25), activation_or("silu")};
constexpr std::array kDropoutKeys{kRate};
constexpr std::array kLinearKeys{width_or(kOneAClass), bias_or(1), init_or(1)};

std::optional<ActivationKind> activation_of(const Values& v) {
  return kActivations.at(static_cast<std::size_t>(v.whole("activation"))).kind;
}

Activate activate_of(const Values& v) {
  return [kind = activation_of(v)](NetBuilder& net, const std::string& name, ValueId x) {
    return kind ? activation(net, name, x, *kind) : net.relu(name, x);
  };
}

Init init_of(const Values& v) { return kInits.at(static_cast<std::size_t>(v.whole("init"))).init; }
// PyTorch initialises biases like their weights. So do these if the weights have PyTorch's initial
// values; otherwise biases start at 0.
Init bias_init_of(const Values& v) {
  return init_of(v) == Init::kUniformFanIn ? Init::kUniformFanIn : Init::kZeros;
}

NetBuilder::Conv conv_of(const Values& v) {
  const int kernel = v.whole("kernel");
  const int pad = v.whole("pad");
  return {.filters = v.whole("width"),
          .kernel = kernel,
          .stride = v.whole("stride"),
          .pad = pad == kHalfTheKernel ? kernel / 2 : pad,
          .init = init_of(v),
          .bias_init = bias_init_of(v)};
}

ValueId make_conv(NetBuilder& net, const At& at, ValueId x, const Values& v) {
  NetBuilder::Conv conv = conv_of(v);
  conv.bias = v.is_on("bias");
  return conv_in_groups(net, at.name, x, conv, v.whole("groups"));
}

ValueId make_conv_bn_relu(NetBuilder& net, const At& at, ValueId x, const Values& v) {
  return conv_norm_activation(
      net, at.name, x,
      {.conv = conv_of(v), .groups = v.whole("groups"), .activate = activate_of(v)});
}

ValueId make_batch_norm(NetBuilder& net, const At& at, ValueId x, const Values& v) {
  return net.batch_norm(at.name, x, {.epsilon = v.real("epsilon")});
}

ValueId make_layer_norm(NetBuilder& net, const At& at, ValueId x, const Values& v) {
  return layer_norm(net, at.name, x, v.real("epsilon"));
}

ValueId make_activation(NetBuilder& net, const At& at, ValueId x, const Values& v) {
  return activate_of(v)(net, at.name, x);
}

int stride_of_pool(const Values& v) {
  const int stride = v.whole("stride");
  return stride == kTheKernel ? v.whole("kernel") : stride;
}

ValueId make_max_pool(NetBuilder& net, const At& at, ValueId x, const Values& v) {
  return net.max_pool(at.name, x, v.whole("kernel"), stride_of_pool(v), v.whole("pad"));
}

ValueId make_avg_pool(NetBuilder& net, const At& at, ValueId x, const Values& v) {
  PoolAttributes attributes;
  attributes.kernel_h = attributes.kernel_w = v.whole("kernel");
  attributes.stride = stride_of_pool(v);
  attributes.pad = v.whole("pad");
  return net.add_layer(kAvgPool, at.name, {x}, attributes);
}

ValueId make_global_avg_pool(NetBuilder& net, const At& at, ValueId x, const Values&) {
  return net.global_average_pool(at.name, x);
}

ValueId make_bottleneck(NetBuilder& net, const At& at, ValueId x, const Values& v) {
  const int inner = v.whole("inner_width");
  const int width = v.whole("width");
  return bottleneck_of(net, at.name, x, width, v.whole("stride"),
                       {.inner = inner > 0 ? inner : width, .groups = v.whole("groups")});
}

// A block of residual nets, given by width and stride.
template <ResidualBlock make>
ValueId make_residual(NetBuilder& net, const At& at, ValueId x, const Values& v) {
  return make(net, at.name, x, v.whole("width"), v.whole("stride"));
}

// The last part of the name is torchvision's name for the parts of such a block.
ValueId make_inverted(NetBuilder& net, const At& at, ValueId x, const Values& v, bool flat) {
  const auto channels = static_cast<double>(net.channels(x));
  InvertedResidual shape;
  shape.widened = std::max(1LL, std::llround(v.real("expand") * channels));
  shape.filters = v.whole("width");
  shape.kernel = v.whole("kernel");
  shape.stride = v.whole("stride");
  shape.drop_path = at.drop_path_rate;
  shape.activate = activate_of(v);
  shape.flat = flat;
  if (const double share = v.real("squeeze_excite"); share > 0) {
    shape.squeeze = SqueezeExcite{
        .squeezed = std::max<std::int64_t>(1, static_cast<std::int64_t>(share * channels))};
    if (const auto kind = activation_of(v)) shape.squeeze->between = *kind;
  }
  return inverted_residual(net, at.name + (flat ? ".conv" : ".block"), x, shape);
}

ValueId make_inverted_residual(NetBuilder& net, const At& at, ValueId x, const Values& v) {
  return make_inverted(net, at, x, v, true);
}

ValueId make_mbconv(NetBuilder& net, const At& at, ValueId x, const Values& v) {
  return make_inverted(net, at, x, v, false);
}

ValueId make_convnext(NetBuilder& net, const At& at, ValueId x, const Values&) {
  return convnext_block(net, at.name, x, at.drop_path_rate);
}

ValueId make_dropout(NetBuilder& net, const At& at, ValueId x, const Values& v) {
  return dropout(net, at.name, x, v.real("rate"));
}

ValueId make_linear(NetBuilder& net, const At& at, ValueId x, const Values& v) {
  const std::int64_t width = v.whole("width");
  return net.linear(at.name, x, width == kOneAClass ? at.classes : width,
                    {.bias = v.is_on("bias"), .init = init_of(v), .bias_init = bias_init_of(v)});
}

constexpr std::array kNetBlocks{
    Block{.name = "conv", .what = "convolution", .keys = kConvKeys, .make = make_conv},
    Block{.name = "conv_bn_relu",
          .what = "convolution, batch norm and activation",
          .keys = kConvBnReluKeys,
          .make = make_conv_bn_relu,
          .repeats = true},
    Block{.name = "batch_norm",
          .what = "batch norm",
          .keys = kBatchNormKeys,
          .make = make_batch_norm},
    Block{.name = "layer_norm",
          .what = "layer norm over the channels of each pixel",
          .keys = kLayerNormKeys,
          .make = make_layer_norm},
    Block{.name = "activation",
          .what = "activation",
          .keys = kActivationKeys,
          .make = make_activation,
          .takes_vectors = true},
    Block{.name = "max_pool", .what = "max pooling", .keys = kPoolKeys, .make = make_max_pool},
    Block{.name = "avg_pool", .what = "average pooling", .keys = kPoolKeys, .make = make_avg_pool},
    Block{.name = "global_avg_pool",
          .what = "global average pooling",
          .keys = {},
          .make = make_global_avg_pool},
    Block{.name = "basic",
          .what = "two 3x3 convolutions and a shortcut (He et al. 2016)",
          .keys = kBasicKeys,
          .make = make_residual<basic_block>,
          .repeats = true},
    Block{.name = "bottleneck",
          .what = "1x1 to inner_width, 3x3, 1x1 to four times width (He et al. 2016)",
          .keys = kBottleneckKeys,
          .make = make_bottleneck,
          .repeats = true},
    Block{.name = "preactivation",
          .what = "basic with batch norm and ReLU before each convolution (He et al. 2016)",
          .keys = kBasicKeys,
          .make = make_residual<preactivated_basic_block>,
          .repeats = true},
    Block{.name = "preactivation_bottleneck",
          .what = "bottleneck with batch norm and ReLU before each convolution",
          .keys = kBasicKeys,
          .make = make_residual<preactivated_bottleneck>,
          .repeats = true},
    Block{.name = "inverted_residual",
          .what = "1x1 expansion, depthwise convolution, 1x1 projection (MobileNetV2, Sandler et "
                  "al. 2018)",
          .keys = kInvertedResidualKeys,
          .make = make_inverted_residual,
          .repeats = true,
          .drops_path = true},
    Block{.name = "mbconv",
          .what = "inverted_residual with squeeze and excite (EfficientNet, Tan and Le 2019)",
          .keys = kMbconvKeys,
          .make = make_mbconv,
          .repeats = true,
          .drops_path = true},
    Block{.name = "convnext",
          .what = "depthwise 7x7, layer norm, two linear layers (Liu et al. 2022)",
          .keys = {},
          .make = make_convnext,
          .repeats = true,
          .drops_path = true},
    Block{.name = "dropout",
          .what = "dropout",
          .keys = kDropoutKeys,
          .make = make_dropout,
          .takes_vectors = true},
    Block{.name = "linear",
          .what = "linear layer; the last one has no width and gets one output per class",
          .keys = kLinearKeys,
          .make = make_linear,
          .takes_vectors = true},
};

}  // namespace

std::span<const Block> net_blocks() { return kNetBlocks; }

}  // namespace winnow::train
