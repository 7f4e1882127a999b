#include "train/backend/host_weights.h"

#include <algorithm>

#include "common/error.h"
#include "train/backend/backend.h"
#include "train/optim/averaging.h"

namespace winnow::train {
namespace {

class HostWeights final : public WeightStore {
 public:
  HostWeights(std::vector<WeightTensor> tensors, const UpdateRule& rule)
      : tensors_(std::move(tensors)),
        lookahead_(lookahead_of(rule.options, rule.steps)),
        ema_(ema_of(rule.options)) {
    if (rule.optimizer != nullptr) {
      update_ = rule.optimizer->make(ChosenOptions(rule.optimizer->options, rule.options));
    }
  }

  void bind(Program& program) override {
    for (const ValueId id : weights_read_by(program.graph())) {
      program.bind(id, find(program.graph().value(id).name).value);
    }
  }

  void load() override {}
  void store() override {}

  bool begin_update(std::span<const float> sums, double lr, std::int64_t step,
                    bool known_finite) override {
    if (!update_) throw Error("these weights have no optimiser: they are for evaluation");
    sums_ = sums;
    lr_ = lr;
    step_ = step;
    return known_finite || all_finite(sums);
  }

  void update(std::span<const WeightUpdate> updates) override {
    for (const WeightUpdate& update : updates) {
      const WeightTensor& tensor = tensors_[update.tensor];
      if (tensor.lr_scale == 0) continue;
      const std::span<const float> sum = sums_.subspan(update.offset, tensor.value.size());
      if (!tensor.parameter) {
        update_statistic(tensor.value, sum, update);
      } else {
        update_({.value = tensor.value,
                 .gradient = sum,
                 .state = tensor.state,
                 .step = {.lr = lr_ * tensor.lr_scale, .step = step_, .decay = tensor.decay}});
      }
      update_average(lookahead_, step_, tensor.value, tensor.slow);
      update_average(ema_, step_, tensor.value, tensor.ema);
    }
  }

 private:
  const WeightTensor& find(const std::string& name) const {
    const auto found = std::ranges::find(tensors_, name, &WeightTensor::name);
    if (found == tensors_.end()) throw Error("the model has no tensor " + name);
    return *found;
  }

  static void update_statistic(std::span<float> running, std::span<const float> sum,
                               const WeightUpdate& how) {
    for (std::size_t i = 0; i < running.size(); ++i) {
      running[i] =
          static_cast<float>((1 - how.momentum) * running[i] + how.momentum * how.scale * sum[i]);
    }
  }

  const std::vector<WeightTensor> tensors_;
  const Averaging lookahead_;
  const Averaging ema_;
  UpdateFunction update_;  // empty: evaluation only
  std::span<const float> sums_;
  double lr_ = 0;
  std::int64_t step_ = 0;
};

}  // namespace

std::unique_ptr<WeightStore> make_host_weights(std::vector<WeightTensor> tensors,
                                               const UpdateRule& rule) {
  return std::make_unique<HostWeights>(std::move(tensors), rule);
}

}  // namespace winnow::train
