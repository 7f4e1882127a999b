#include "train/nets/vit.h"

#include <string>
#include <utility>

#include "train/nets/activation.h"
#include "train/nets/attention.h"
#include "train/nets/layer_norm.h"
#include "train/nets/pointwise.h"
#include "train/ops/tokens.h"

namespace winnow::train {
namespace {

constexpr double kVitEpsilon = 1e-6;
constexpr std::int64_t kMlpRatio = 4;

struct Vit {
  int patch_px;
  std::int64_t width;
  int blocks;
  std::int64_t heads;
};
constexpr Vit kBase16{16, 768, 12, 12};
constexpr Vit kTiny4{4, 192, 12, 3};

void check_patches(const NetOptions& options, int patch_px) {
  if (options.height_px % patch_px == 0 && options.width_px % patch_px == 0) return;
  throw ShapeError("images of " + std::to_string(options.height_px) + " x " +
                   std::to_string(options.width_px) + " pixels cannot be divided into patches of " +
                   std::to_string(patch_px) + ": choose a multiple of " + std::to_string(patch_px) +
                   " by --image-size");
}

// The class token, followed by the tokens of the patches.
ValueId embed(NetBuilder& net, const Vit& vit) {
  const ValueId x = net.conv("conv_proj", net.image(),
                             {.filters = vit.width,
                              .kernel = vit.patch_px,
                              .stride = vit.patch_px,
                              .bias = true,
                              .init = Init::kLecunNormal,
                              .bias_init = Init::kZeros});
  const std::int64_t tokens = 1 + net.shape(x)[2] * net.shape(x)[3];
  const ValueId first = net.weight("class_token", {1, 1, vit.width}, Init::kZeros);
  const ValueId position =
      net.weight("encoder.pos_embedding", {1, tokens, vit.width}, Init::kNormal002);
  return net.add_layer(kTokens, "encoder.tokens", {x, first, position});
}

ValueId block(NetBuilder& net, const std::string& name, ValueId x, const Vit& vit) {
  const NetBuilder::Linear xavier = {.init = Init::kXavierUniform, .bias_init = Init::kNormal1e6};
  ValueId y = layer_norm(net, name + ".ln_1", x, kVitEpsilon);
  x = net.add(name + ".add_1", x, self_attention(net, name + ".self_attention", y, vit.heads));
  y = layer_norm(net, name + ".ln_2", x, kVitEpsilon);
  y = pointwise(net, name + ".mlp.0", y, kMlpRatio * vit.width, xavier);
  y = activation(net, name + ".mlp.1", y, ActivationKind::kGelu);
  y = pointwise(net, name + ".mlp.3", y, vit.width, xavier);
  return net.add(name + ".add_2", x, y);
}

Graph make(const NetOptions& options, const Vit& vit) {
  check_patches(options, vit.patch_px);
  NetBuilder net(options);
  ValueId x = embed(net, vit);
  for (int i = 0; i < vit.blocks; ++i) {
    x = block(net, "encoder.layers.encoder_layer_" + std::to_string(i), x, vit);
  }
  // Norms apply to each token separately, and only the class token is used after the last one.
  x = net.add_layer(kSelectToken, "encoder.class_token", {x});
  x = layer_norm(net, "encoder.ln", x, kVitEpsilon);
  x = net.linear("heads.head", x, options.classes,
                 {.init = Init::kZeros, .bias_init = Init::kZeros});
  return std::move(net).finish(x);
}

}  // namespace

Graph make_vit_b_16(const NetOptions& options) { return make(options, kBase16); }
Graph make_vit_tiny_patch4_32(const NetOptions& options) { return make(options, kTiny4); }

}  // namespace winnow::train
