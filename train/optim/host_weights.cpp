#include "train/optim/host_weights.h"

#include <algorithm>

#include "common/error.h"
#include "train/backend/backend.h"
#include "train/optim/optimizer.h"

namespace winnow::train {
namespace {

class HostWeights final : public WeightStore {
 public:
  HostWeights(std::vector<WeightTensor> tensors, const UpdateRule& rule)
      : tensors_(std::move(tensors)),
        options_(rule.options),
        optimizer_(find_optimizer(rule.kind)) {}

  void bind(Program& program) override {
    for (const ValueId id : weights_read_by(program.graph())) {
      program.bind(id, find(program.graph().value(id).name).value);
    }
  }

  void load() override {}
  void store() override {}

  bool begin_update(std::span<const float> sums, double lr, std::int64_t,
                    bool known_finite) override {
    sums_ = sums;
    lr_ = lr;
    return known_finite || all_finite(sums);
  }

  void update(std::span<const WeightUpdate> updates) override {
    for (const WeightUpdate& update : updates) {
      const WeightTensor& tensor = tensors_[update.tensor];
      if (tensor.lr_scale == 0) continue;
      const std::span<const float> sum = sums_.subspan(update.offset, tensor.value.size());
      if (!tensor.parameter) {
        update_statistic(tensor.value, sum, update.scale);
      } else {
        optimizer_.step({.value = tensor.value,
                         .gradient = sum,
                         .momentum = tensor.state.front(),
                         .decay = tensor.decay},
                        lr_ * tensor.lr_scale, options_);
      }
    }
  }

 private:
  const WeightTensor& find(const std::string& name) const {
    const auto found = std::ranges::find(tensors_, name, &WeightTensor::name);
    if (found == tensors_.end()) throw Error("the model has no tensor " + name);
    return *found;
  }

  static void update_statistic(std::span<float> running, std::span<const float> sum, double scale) {
    for (std::size_t i = 0; i < running.size(); ++i) {
      running[i] = static_cast<float>((1 - kBatchNormMomentum) * running[i] +
                                      kBatchNormMomentum * scale * sum[i]);
    }
  }

  const std::vector<WeightTensor> tensors_;
  const OptimizerOptions options_;
  const Optimizer& optimizer_;
  std::span<const float> sums_;
  double lr_ = 0;
};

}  // namespace

std::unique_ptr<WeightStore> make_host_weights(std::vector<WeightTensor> tensors,
                                               const UpdateRule& rule) {
  return std::make_unique<HostWeights>(std::move(tensors), rule);
}

}  // namespace winnow::train
