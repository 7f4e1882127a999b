#include "train/nets/nets.h"

#include <array>
#include <string>

#include "train/nets/lenet.h"
#include "train/nets/resnet.h"
#include "train/nets/resnet18.h"

namespace winnow::train {
namespace {

constexpr auto kNets = std::to_array<Net>({
    {"lenet", "LeNet as in Caffe: 2 convolutions, 2 linear layers", 28, make_lenet},
    {"resnet20", "ResNet-20 for small images, 272 k parameters (He et al. 2016)", 32,
     make_resnet20},
    {"resnet18", "ResNet-18 as torchvision's, 11.7 M parameters for 1,000 classes", 224,
     make_resnet18},
    {"resnet34", "ResNet-34 as torchvision's, 21.8 M parameters for 1,000 classes", 224,
     make_resnet34},
    {"resnet50", "ResNet-50 as torchvision's, 25.6 M parameters for 1,000 classes", 224,
     make_resnet50},
});

}  // namespace

std::span<const Net> nets() { return kNets; }

const Net& find_net(std::string_view name) {
  std::string known;
  for (const Net& net : nets()) {
    if (net.name == name) return net;
    known += (known.empty() ? "" : ", ") + std::string(net.name);
  }
  throw UsageError("unknown net '" + std::string(name) + "'; known: " + known);
}

}  // namespace winnow::train
