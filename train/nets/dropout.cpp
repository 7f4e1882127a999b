#include "train/nets/dropout.h"

#include "train/ops/dropout.h"

namespace winnow::train {
namespace {

ValueId add(NetBuilder& net, const std::string& name, ValueId x, DropoutAttributes attributes) {
  attributes.operation = net.next_random_operation();
  return net.add_layer(kDropout, name, {x, net.keys()}, attributes);
}

}  // namespace

ValueId dropout(NetBuilder& net, const std::string& name, ValueId x, double rate) {
  return add(net, name, x, {.rate = rate});
}

ValueId drop_path(NetBuilder& net, const std::string& name, ValueId x, double rate) {
  return rate > 0 ? add(net, name, x, {.rate = rate, .whole_samples = true}) : x;
}

}  // namespace winnow::train
