#include "train/nets/alexnet_bn.h"

#include <string>
#include <utility>

#include "train/nets/adaptive_pool.h"
#include "train/nets/dropout.h"

namespace winnow::train {
namespace {

class Features {
 public:
  explicit Features(NetBuilder& net) : net_(net), x_(net.image()) {}

  Features& conv(const NetBuilder::Conv& conv) {
    x_ = net_.conv(next(), x_, conv);
    x_ = net_.batch_norm(next(), x_);
    x_ = net_.relu(next(), x_);
    return *this;
  }
  Features& pool() {
    x_ = net_.max_pool(next(), x_, 3, 2);
    return *this;
  }
  ValueId value() const { return x_; }

 private:
  std::string next() { return "features." + std::to_string(place_++); }

  NetBuilder& net_;
  ValueId x_;
  int place_ = 0;
};

}  // namespace

Graph make_alexnet_bn(const NetOptions& options) {
  NetBuilder net(options);
  Features features(net);
  features.conv({.filters = 96, .kernel = 11, .stride = 4, .pad = 2})
      .pool()
      .conv({.filters = 256, .kernel = 5, .pad = 2})
      .pool()
      .conv({.filters = 384, .kernel = 3, .pad = 1})
      .conv({.filters = 384, .kernel = 3, .pad = 1})
      .conv({.filters = 256, .kernel = 3, .pad = 1})
      .pool();
  const NetBuilder::Linear normal = {.init = Init::kNormal001, .bias_init = Init::kZeros};
  ValueId x = adaptive_average_pool(net, "avgpool", features.value(), 6);
  x = dropout(net, "classifier.0", x, 0.5);
  x = net.relu("classifier.2", net.linear("classifier.1", x, 4096, normal));
  x = dropout(net, "classifier.3", x, 0.5);
  x = net.relu("classifier.5", net.linear("classifier.4", x, 4096, normal));
  x = net.linear("classifier.6", x, options.classes, normal);
  return std::move(net).finish(x);
}

}  // namespace winnow::train
