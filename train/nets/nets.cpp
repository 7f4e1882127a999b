#include "train/nets/nets.h"

#include <array>
#include <string>

#include "common/row_called.h"
#include "train/nets/airbench.h"
#include "train/nets/alexnet.h"
#include "train/nets/alexnet_bn.h"
#include "train/nets/alexnet_lrn.h"
#include "train/nets/cifar_resnets.h"
#include "train/nets/convnext.h"
#include "train/nets/deep_resnets.h"
#include "train/nets/densenet.h"
#include "train/nets/efficientnet.h"
#include "train/nets/googlenet.h"
#include "train/nets/lenet.h"
#include "train/nets/mobilenet_v2.h"
#include "train/nets/mobilenet_v3.h"
#include "train/nets/regnet.h"
#include "train/nets/resnet.h"
#include "train/nets/resnet18.h"
#include "train/nets/resnet50v2.h"
#include "train/nets/resnet9.h"
#include "train/nets/vgg.h"
#include "train/nets/vit.h"
#include "train/nets/wide_resnet.h"

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
    {"resnet32", "ResNet-32 for small images, 467 k parameters (He et al. 2016)", 32,
     make_resnet32},
    {"resnet44", "ResNet-44 for small images, 661 k parameters (He et al. 2016)", 32,
     make_resnet44},
    {"resnet56", "ResNet-56 for small images, 856 k parameters (He et al. 2016)", 32,
     make_resnet56},
    {"resnet110", "ResNet-110 for small images, 1.7 M parameters (He et al. 2016)", 32,
     make_resnet110},
    {"resnet101", "ResNet-101 as torchvision's, 44.5 M parameters for 1,000 classes", 224,
     make_resnet101},
    {"resnet152", "ResNet-152 as torchvision's, 60.2 M parameters for 1,000 classes", 224,
     make_resnet152},
    {"resnext50_32x4d", "ResNeXt-50 as torchvision's, 25.0 M parameters for 1,000 classes", 224,
     make_resnext50_32x4d},
    {"wide_resnet50_2", "Wide ResNet-50-2 as torchvision's, 68.9 M parameters for 1,000 classes",
     224, make_wide_resnet50_2},
    {"wrn16_4", "WRN-16-4 for small images, 2.7 M parameters (Zagoruyko and Komodakis 2016)", 32,
     make_wrn16_4},
    {"wrn28_10", "WRN-28-10 for small images, 36.5 M parameters (Zagoruyko and Komodakis 2016)", 32,
     make_wrn28_10},
    {"resnet9", "ResNet-9 for small images, 6.6 M parameters (Page 2018)", 32, make_resnet9},
    {"resnet50v2", "ResNet-50 with norms before convolutions, 25.5 M parameters (He et al. 2016)",
     224, make_resnet50v2},
    {"vgg11_bn", "VGG-11 with batch norm as torchvision's, 132.9 M parameters for 1,000 classes",
     224, make_vgg11_bn},
    {"vgg16_bn", "VGG-16 with batch norm as torchvision's, 138.4 M parameters for 1,000 classes",
     224, make_vgg16_bn},
    {"alexnet_bn", "AlexNet with batch norm, 62.4 M parameters for 1,000 classes (You et al. 2017)",
     224, make_alexnet_bn},
    {"alexnet", "AlexNet as torchvision's, 61.1 M parameters for 1,000 classes", 224, make_alexnet},
    {"alexnet_lrn", "AlexNet with local response norm, 62.4 M parameters (Krizhevsky et al. 2012)",
     224, make_alexnet_lrn},
    {"googlenet_bn",
     "GoogLeNet with batch norm as torchvision's, 6.6 M parameters for 1,000 classes", 224,
     make_googlenet_bn},
    {"densenet121", "DenseNet-121 as torchvision's, 8.0 M parameters for 1,000 classes", 224,
     make_densenet121},
    {"mobilenet_v2", "MobileNetV2 as torchvision's, 3.5 M parameters for 1,000 classes", 224,
     make_mobilenet_v2},
    {"mobilenet_v3_large", "MobileNetV3-Large as torchvision's, 5.5 M parameters for 1,000 classes",
     224, make_mobilenet_v3_large},
    {"mobilenet_v3_small", "MobileNetV3-Small as torchvision's, 2.5 M parameters for 1,000 classes",
     224, make_mobilenet_v3_small},
    {"efficientnet_b0", "EfficientNet-B0 as torchvision's, 5.3 M parameters for 1,000 classes", 224,
     make_efficientnet_b0},
    {"regnet_y_400mf", "RegNetY-400MF as torchvision's, 4.3 M parameters for 1,000 classes", 224,
     make_regnet_y_400mf},
    {"convnext_tiny", "ConvNeXt-T as torchvision's, 28.6 M parameters for 1,000 classes", 224,
     make_convnext_tiny},
    {"vit_b_16", "ViT-B/16 as torchvision's, 86.6 M parameters for 1,000 classes", 224,
     make_vit_b_16},
    {"vit_tiny_patch4_32",
     "ViT-Ti of 4-pixel patches for small images, 5.4 M parameters (Touvron et al. 2021)", 32,
     make_vit_tiny_patch4_32},
    {"airbench94", "airbench94 for small images, 2.0 M parameters (Jordan 2024)", 32,
     make_airbench94},
});

}  // namespace

std::span<const Net> nets() { return kNets; }

double loss_of_guessing(const NetOptions& options) {
  return find_loss(options.loss.name).guessing(options.loss, options.classes);
}

void check_ranges(const NetOptions& o) {
  const auto check = [](std::int64_t value, std::int64_t most, const char* what,
                        const char* remedy) {
    if (value >= 1 && value <= most) return;
    throw UsageError("a net takes " + std::string(what) + " from 1 to " + std::to_string(most) +
                     ", not " + std::to_string(value) + "; " + remedy);
  };
  check(o.batch, kMostMicroBatch, "a micro-batch", "choose another by --micro-batch");
  for (const int side : {o.height_px, o.width_px}) {
    check(side, kMostSidePx, "images with sides", "choose others by --image-size");
  }
  check(o.classes, kMostClasses, "classes", "ingest with fewer");
}

const Net& find_net(std::string_view name) {
  std::vector<std::string> known;
  for (const Net& net : nets()) {
    if (net.name == name) return net;
    known.emplace_back(net.name);
  }
  const std::string meant = nearest_word(name, known);
  throw UsageError("unknown net '" + std::string(name) + "'; " +
                   (meant.empty() ? "" : "did you mean " + meant + "? ") +
                   "winnow train --net ? lists them");
}

}  // namespace winnow::train
