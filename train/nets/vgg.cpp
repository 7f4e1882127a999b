#include "train/nets/vgg.h"

#include <span>
#include <string>
#include <utility>

#include "train/nets/adaptive_pool.h"
#include "train/nets/dropout.h"

namespace winnow::train {
namespace {

constexpr int kPool = 0;  // a pool, in lists of widths
constexpr int kEleven[] = {64,  kPool, 128,   kPool, 256, 256,  kPool,
                           512, 512,   kPool, 512,   512, kPool};
constexpr int kSixteen[] = {64,    64,  kPool, 128, 128,   kPool, 256, 256, 256,
                            kPool, 512, 512,   512, kPool, 512,   512, 512, kPool};

// torchvision counts convolutions, batch norms, ReLUs and pools in one sequence.
ValueId features(NetBuilder& net, std::span<const int> widths) {
  int place = 0;
  const auto next = [&] { return "features." + std::to_string(place++); };
  ValueId x = net.image();
  for (const int width : widths) {
    if (width == kPool) {
      x = net.max_pool(next(), x, 2, 2);
      continue;
    }
    x = net.conv(
        next(), x,
        {.filters = width, .kernel = 3, .pad = 1, .bias = true, .bias_init = Init::kZeros});
    x = net.batch_norm(next(), x);
    x = net.relu(next(), x);
  }
  return x;
}

Graph make(const NetOptions& options, std::span<const int> widths) {
  NetBuilder net(options);
  const NetBuilder::Linear normal = {.init = Init::kNormal001, .bias_init = Init::kZeros};
  ValueId x = adaptive_average_pool(net, "avgpool", features(net, widths), 7);
  x = net.relu("classifier.1", net.linear("classifier.0", x, 4096, normal));
  x = dropout(net, "classifier.2", x, 0.5);
  x = net.relu("classifier.4", net.linear("classifier.3", x, 4096, normal));
  x = dropout(net, "classifier.5", x, 0.5);
  x = net.linear("classifier.6", x, options.classes, normal);
  return std::move(net).finish(x);
}

}  // namespace

Graph make_vgg11_bn(const NetOptions& options) { return make(options, kEleven); }
Graph make_vgg16_bn(const NetOptions& options) { return make(options, kSixteen); }

}  // namespace winnow::train
