#include "app/train/training_recipes.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "common/error.h"
#include "common/row_called.h"
#include "train/nets/nets.h"

namespace winnow::app {
namespace {

using Settings = std::vector<RecipeSetting>;

// A recipe's values for one batch size.
struct BatchRow {
  double batch, lr, warmup_epochs, momentum, weight_decay, epochs;
};

std::string text_of(double number) { return fmt::format("{:.9g}", number); }

// Between two rows: rate, warm-up and epochs are interpolated linearly; the rest is from the row
// below. Outside the table the rate is proportional to the batch.
BatchRow row_for(std::span<const BatchRow> rows, double batch) {
  const auto above =
      std::ranges::find_if(rows, [&](const BatchRow& r) { return r.batch >= batch; });
  if (above == rows.begin() || above == rows.end()) {
    BatchRow row = above == rows.end() ? rows.back() : *above;
    row.lr *= batch / row.batch;
    row.batch = batch;
    return row;
  }
  BatchRow row = *std::prev(above);
  const double share = (batch - row.batch) / (above->batch - row.batch);
  if (share == 1) return *above;
  const auto between = [share](double& low, double high) { low += share * (high - low); };
  between(row.lr, above->lr);
  between(row.warmup_epochs, above->warmup_epochs);
  between(row.epochs, above->epochs);
  row.batch = batch;
  return row;
}

// LARS: rate, warm-up and length by the batch, polynomial decay of power 2.
Settings lars_settings(std::string_view net, std::string_view optimizer, const BatchRow& row) {
  return {{"--net", {std::string(net)}},
          {"--image-size", {"224"}},
          {"--augment", {"imagenet"}},
          {"--optimizer", {std::string(optimizer)}},
          {"--lars-eta", {"0.001"}},
          {"--momentum", {text_of(row.momentum)}},
          {"--weight-decay", {text_of(row.weight_decay)}},
          {"--batch-size", {text_of(row.batch)}},
          {"--lr", {text_of(row.lr)}},
          {"--sched", {"poly"}},
          {"--warmup-epochs", {text_of(row.warmup_epochs)}},
          {"--epochs", {text_of(row.epochs)}}};
}

// mlcommons/logging, rcp_checker/training_4.0.0/rcps_resnet.json.
Settings mlperf_resnet50(const RecipeTask& task) {
  constexpr std::array kRows{
      BatchRow{1632, 7.4, 2, 0.9, 5e-5, 35},         BatchRow{3264, 10.5, 2, 0.9, 5e-5, 37},
      BatchRow{4096, 10, 5, 0.9, 2e-4, 42},          BatchRow{8192, 17, 5, 0.9, 2e-4, 39},
      BatchRow{13056, 12.8, 9, 0.9, 2.5e-5, 48},     BatchRow{32768, 21.2, 16, 0.94, 2.5e-5, 58},
      BatchRow{49152, 19.4, 24, 0.9518, 1e-4, 70.8}, BatchRow{65536, 24.7, 31, 0.9518, 1e-4, 58},
      BatchRow{67840, 24.7, 31, 0.9518, 1e-4, 60}};
  Settings settings =
      lars_settings("resnet50", "lars", row_for(kRows, task.batch > 0 ? task.batch : 3264));
  settings.push_back({"--lr-end", {"0.0001"}});
  settings.push_back({"--label-smoothing", {"0.1"}});
  return settings;
}

// borisgin/nvcaffe, branch caffe-0.16_lars, models/*/solver_*.prototxt. Its decay counts from the
// first step, ours from the end of the warm-up.
Settings nvcaffe(std::string_view net, const BatchRow& row) {
  Settings settings = lars_settings(net, "lars_paper", row);
  if (row.warmup_epochs > 0) settings.push_back({"--lr-warmup", {"1"}});
  return settings;
}

Settings lars_alexnet(const RecipeTask& task) {
  constexpr std::array kRows{BatchRow{1024, 2, 0, 0.9, 5e-4, 100},
                             BatchRow{8192, 10, 3.8, 0.9, 5e-4, 100},
                             BatchRow{16384, 16, 5, 0.9, 5e-4, 100}};
  return nvcaffe("alexnet", row_for(kRows, task.batch > 0 ? task.batch : 8192));
}

Settings lars_alexnet_bn(const RecipeTask& task) {
  constexpr std::array kRows{BatchRow{8192, 10, 3.8, 0.9, 5e-4, 100},
                             BatchRow{16384, 24, 5, 0.9, 5e-4, 100},
                             BatchRow{32768, 32, 10, 0.9, 5e-4, 100}};
  return nvcaffe("alexnet_bn", row_for(kRows, task.batch > 0 ? task.batch : 16384));
}

Settings lars_resnet50(const RecipeTask& task) {
  constexpr std::array kRows{BatchRow{512, 4, 0, 0.9, 1e-4, 100},
                             BatchRow{1024, 9, 8, 0.9, 1e-4, 100}};
  return nvcaffe("resnet50", row_for(kRows, task.batch > 0 ? task.batch : 1024));
}

// He et al. 2016, section 4.2: milestones at 32 k and 48 k of 64 k steps.
Settings he_cifar(const RecipeTask& task) {
  const double batch = task.batch > 0 ? task.batch : 128;
  const double lr = 0.1 * batch / 128;
  return {{"--net", {"resnet20"}},    {"--augment", {"cifar"}},
          {"--optimizer", {"sgd"}},   {"--no-nesterov"},
          {"--momentum", {"0.9"}},    {"--weight-decay", {"0.0001"}},
          {"--no-decay", {"none"}},   {"--batch-size", {text_of(batch)}},
          {"--lr", {text_of(lr)}},    {"--sched", {"multistep"}},
          {"--warmup-epochs", {"0"}}, {"--milestones", {"82", "123"}},
          {"--epochs", {"164"}}};
}

// KellerJordan/cifar10-airbench, legacy/airbench94.py, with rates converted from sums to means of
// the loss. Two micro-batches stand for its one batch. Its evaluation of shifted copies is winnow
// eval --tta airbench94.
// Left out  norms without weight decay, training the bias of the whitening for 3 epochs only,
//           lookahead of running statistics
Settings airbench94(const RecipeTask& task) {
  const double batch = task.batch > 0 ? task.batch : 1024;
  const double lr = 1.5 * batch / 1024;
  Settings settings = {{"--net", {"airbench94"}},
                       {"--augment", {"alternating_flip+crop:padding=2,mode=reflect"}},
                       {"--optimizer", {"sgd"}},
                       {"--momentum", {"0.85"}},
                       {"--weight-decay", {"0.00133"}},
                       {"--lookahead-steps", {"5"}},
                       {"--lookahead-alpha", {text_of(1 - std::pow(0.95, 5))}},
                       {"--lookahead-power", {"3"}},
                       {"--batch-size", {text_of(batch)}},
                       {"--lr", {text_of(lr)}},
                       {"--sched", {"poly"}},
                       {"--power", {"1"}},
                       {"--warmup-epochs", {"2.277"}},
                       {"--lr-warmup", {text_of(0.2 * lr)}},
                       {"--lr-end", {text_of(0.07 * lr)}},
                       {"--label-smoothing", {"0.2"}},
                       {"--epochs", {"9.9"}}};
  if (std::fmod(batch, 2) == 0) settings.push_back({"--micro-batch", {text_of(batch / 2)}});
  // These parameter names exist in this net only.
  if (task.net.empty() || task.net == "airbench94") {
    settings.push_back({"--lr-scale", {"*.norm?.bias=64"}});
  }
  return settings;
}

// pytorch/vision, references/classification, for ResNet-50's IMAGENET1K_V2 weights. There, the
// decay of the average is 1 - (1 - 0.99998) batch steps / epochs.
// Left out  repeated augmentation, evaluation of larger images than in training
Settings torchvision(const RecipeTask& task) {
  const double batch = task.batch > 0 ? task.batch : 1024;
  const double lr = 0.5 * batch / 1024;
  const double epochs = task.epochs > 0 ? task.epochs : 600;
  const double decay = std::max(0.0, 1 - (1 - 0.99998) * batch * 32 / epochs);
  return {{"--net", {"resnet50"}},
          {"--image-size", {"176"}},
          {"--augment", {"resized_crop+flip+trivial_augment+erase:p=0.1+mixup+cutmix"}},
          {"--optimizer", {"sgd"}},
          {"--no-nesterov"},
          {"--momentum", {"0.9"}},
          {"--weight-decay", {"2e-05"}},
          {"--batch-size", {text_of(batch)}},
          {"--lr", {text_of(lr)}},
          {"--sched", {"cosine"}},
          {"--lr-per-epoch"},
          {"--warmup-epochs", {"5"}},
          {"--lr-warmup", {text_of(0.01 * lr)}},
          {"--label-smoothing", {"0.1"}},
          {"--ema-decay", {text_of(decay)}},
          {"--ema-steps", {"32"}},
          {"--epochs", {"600"}}};
}

// Kolesnikov et al. 2020 (BiT), section 3.3: milestones at 30, 60 and 90 % of the run, here in
// epochs.
Settings finetune(const RecipeTask& task) {
  const double batch = task.batch > 0 ? task.batch : 128;
  const double lr = 0.003 * batch / 512;
  return {{"--optimizer", {"sgd"}},
          {"--no-nesterov"},
          {"--momentum", {"0.9"}},
          {"--weight-decay", {"0"}},
          {"--batch-size", {text_of(batch)}},
          {"--lr", {text_of(lr)}},
          {"--sched", {"multistep"}},
          {"--warmup-epochs", {"1"}},
          {"--milestones", {"6", "12", "18"}},
          {"--epochs", {"20"}}};
}

// Numbers of SGD recipes for one batch size; rates are proportional to the batch.
struct SgdNumbers {
  double batch, lr, weight_decay, warmup_epochs, epochs;
};

Settings sgd_settings(const SgdNumbers& own, const RecipeTask& task, std::string_view schedule) {
  const double batch = task.batch > 0 ? task.batch : own.batch;
  return {{"--optimizer", {"sgd"}},
          {"--momentum", {"0.9"}},
          {"--weight-decay", {text_of(own.weight_decay)}},
          {"--batch-size", {text_of(batch)}},
          {"--lr", {text_of(own.lr * batch / own.batch)}},
          {"--sched", {std::string(schedule)}},
          {"--warmup-epochs", {text_of(own.warmup_epochs)}},
          {"--epochs", {text_of(own.epochs)}}};
}

// Short runs of nets for small images: Page 2018, "How to train your ResNet". For a batch of 512
// the rate rises linearly to 0.4 in 5 of 24 epochs, then falls linearly to 0; weight decay 5e-4.
Settings small_images(const RecipeTask& task) {
  Settings settings = sgd_settings({512, 0.4, 5e-4, 5, 24}, task, "poly");
  settings.push_back({"--power", {"1"}});
  return settings;
}

// Goyal et al. 2017, section 5.1, with half a cosine instead of steps (He et al. 2019, "Bag of
// tricks", section 5.1). The warm-up is 5 of 90 epochs.
Settings goyal_imagenet(const RecipeTask& task) {
  return sgd_settings({256, 0.1, 1e-4, 5, 90}, task, "cosine");
}

// For nets without norms, which tolerate less.
Settings without_nesterov(Settings settings) {
  settings.push_back({"--no-nesterov"});
  return settings;
}

// Caffe, examples/mnist/lenet_solver.prototxt: 0.01 for 64 images, 10,000 steps, which are 11
// epochs.
Settings caffe_lenet(const RecipeTask& task) {
  return without_nesterov(sgd_settings({64, 0.01, 5e-4, 1, 11}, task, "cosine"));
}

// Krizhevsky 2014, "One weird trick", section 5: 0.01 for 128 images, 90 epochs.
Settings krizhevsky_alexnet(const RecipeTask& task) {
  return without_nesterov(sgd_settings({128, 0.01, 5e-4, 1, 90}, task, "cosine"));
}

// Liu et al. 2022, appendix A.1, without its augmentation. For ViTs it is close to DeiT's (Touvron
// et al. 2021), which has a warm-up of 5 epochs. The rate is proportional to the square root of the
// batch, as it should be for Adam (Malladi et al. 2022).
Settings liu_convnext(const RecipeTask& task) {
  const double batch = task.batch > 0 ? task.batch : 4096;
  return {{"--optimizer", {"adamw"}},
          {"--weight-decay", {"0.05"}},
          {"--batch-size", {text_of(batch)}},
          {"--lr", {text_of(0.004 * std::sqrt(batch / 4096))}},
          {"--sched", {"cosine"}},
          {"--warmup-epochs", {"20"}},
          {"--label-smoothing", {"0.1"}},
          {"--epochs", {"300"}}};
}

// Zbontar et al. 2021, "Barlow Twins", and its follow-up code for small images: AdamW instead of
// LARS, which needs batches of thousands. The augmentation contains the steps of SimCLR's that
// winnow has.
Settings barlow_twins(const RecipeTask& task) {
  const double batch = task.batch > 0 ? task.batch : 256;
  return {{"--loss", {"barlow_twins"}},
          {"--augment",
           {"resized_crop:area=0.3..1+flip+jitter:brightness=0.4,contrast=0.4,"
            "saturation=0.4,hue=0.1"}},
          {"--optimizer", {"adamw"}},
          {"--weight-decay", {"0.0001"}},
          {"--batch-size", {text_of(batch)}},
          {"--lr", {text_of(0.002 * std::sqrt(batch / 256))}},
          {"--sched", {"cosine"}},
          {"--warmup-epochs", {"1"}},
          {"--epochs", {"20"}}};
}

constexpr std::array kRecipes{
    TrainingRecipe{"mlperf-resnet50", "MLPerf's LARS points of ResNet-50, 1,632 to 67,840 a batch",
                   "resnet50", mlperf_resnet50},
    TrainingRecipe{"lars-resnet50", "ResNet-50 as LARS's authors trained it (You et al. 2017)",
                   "resnet50", lars_resnet50},
    TrainingRecipe{"lars-alexnet", "AlexNet as LARS's authors trained it (You et al. 2017)",
                   "alexnet", lars_alexnet},
    TrainingRecipe{"lars-alexnet-bn", "AlexNet with batch norm, likewise", "alexnet_bn",
                   lars_alexnet_bn},
    TrainingRecipe{"he-cifar", "ResNets on CIFAR (He et al. 2016)", "resnet20", he_cifar},
    TrainingRecipe{"airbench94", "CIFAR in ten epochs, its net or another (Jordan 2024)",
                   "airbench94", airbench94},
    TrainingRecipe{"torchvision", "torchvision's new recipe for ResNet-50, 600 epochs", "resnet50",
                   torchvision},
    TrainingRecipe{"finetune", "goes on from --init-from (Kolesnikov et al. 2020)", "", finetune},
    TrainingRecipe{"small-images",
                   "nets for small images, up and down in a straight line (Page 2018)", "",
                   small_images},
    TrainingRecipe{"goyal-imagenet", "nets with norms, by SGD and a cosine (Goyal et al. 2017)", "",
                   goyal_imagenet},
    TrainingRecipe{"caffe-lenet", "LeNet as Caffe's example, with a cosine", "lenet", caffe_lenet},
    TrainingRecipe{"krizhevsky-alexnet", "AlexNet (Krizhevsky 2014), with a cosine", "alexnet",
                   krizhevsky_alexnet},
    TrainingRecipe{"liu-convnext", "ConvNeXts by AdamW (Liu et al. 2022), and ViTs",
                   "convnext_tiny", liu_convnext},
    TrainingRecipe{"barlow-twins", "features without labels (Zbontar et al. 2021)", "",
                   barlow_twins},
};

// Nets whose recipe does not follow from the size of their images.
struct OwnRecipe {
  std::string_view net, recipe;
};
constexpr std::array kOwnRecipes{OwnRecipe{"lenet", "caffe-lenet"},
                                 OwnRecipe{"alexnet", "krizhevsky-alexnet"},
                                 OwnRecipe{"alexnet_lrn", "krizhevsky-alexnet"},
                                 OwnRecipe{"airbench94", "airbench94"},
                                 OwnRecipe{"convnext_tiny", "liu-convnext"},
                                 OwnRecipe{"vit_b_16", "liu-convnext"},
                                 OwnRecipe{"vit_tiny_patch4_32", "liu-convnext"}};
constexpr int kSmallSidePx = 64;

}  // namespace

std::vector<TrainingRecipe> training_recipes() {
  std::vector<TrainingRecipe> there;
  std::ranges::copy_if(kRecipes, std::back_inserter(there), [](const TrainingRecipe& recipe) {
    return recipe.net.empty() ||
           std::ranges::find(train::nets(), recipe.net, &train::Net::name) != train::nets().end();
  });
  return there;
}

TrainingRecipe find_training_recipe(std::string_view name) {
  std::vector<std::string> known;
  for (const TrainingRecipe& recipe : training_recipes()) {
    if (recipe.name == name) return recipe;
    known.emplace_back(recipe.name);
  }
  const std::string meant = nearest_word(name, known);
  throw UsageError("unknown recipe '" + std::string(name) + "'; " +
                   (meant.empty() ? "" : "did you mean " + meant + "? ") +
                   "winnow train --help-all lists them");
}

TrainingRecipe own_recipe(const train::NetChoice& net, int side_px) {
  const auto own = std::ranges::find(kOwnRecipes, net.name, &OwnRecipe::net);
  if (net.description.empty() && own != kOwnRecipes.end()) return find_training_recipe(own->recipe);
  const bool small = (side_px > 0 ? side_px : train::default_side_px(net)) < kSmallSidePx;
  return find_training_recipe(small ? "small-images" : "goyal-imagenet");
}

Settings settings_of(const TrainingRecipe& recipe, const RecipeTask& task) {
  Settings settings = recipe.settings(task);
  const auto own = std::ranges::find(settings, "--epochs", &RecipeSetting::flag);
  if (task.epochs <= 0) return settings;
  const double longer = task.epochs / std::stod(own->values.front());
  for (RecipeSetting& setting : settings) {
    constexpr std::array kInEpochs{"--milestones", "--warmup-epochs", "--cooldown-epochs",
                                   "--epochs"};
    if (std::ranges::find(kInEpochs, setting.flag) == kInEpochs.end()) continue;
    for (std::string& value : setting.values) value = text_of(std::stod(value) * longer);
  }
  return settings;
}

std::string training_recipes_help() {
  std::string text;
  for (const TrainingRecipe& recipe : training_recipes()) {
    text += fmt::format("\n  {:19}{}", recipe.name, recipe.what);
  }
  return text;
}

}  // namespace winnow::app
