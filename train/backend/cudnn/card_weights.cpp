#include "train/backend/cudnn/card_weights.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "common/error.h"
#include "train/backend/cudnn/host_copy.h"
#include "train/backend/cudnn/kernels.h"
#include "train/backend/cudnn/program.h"
#include "train/optim/averaging.h"

namespace winnow::train::cudnn {
namespace {

using kernels::StepScalars;

// The parts of a tensor in device memory: its value, the optimiser's state, its averages.
std::vector<std::span<float>> parts_of(const WeightTensor& tensor) {
  std::vector<std::span<float>> parts{tensor.value};
  parts.insert(parts.end(), tensor.state.begin(), tensor.state.end());
  parts.push_back(tensor.slow);
  parts.push_back(tensor.ema);
  return parts;
}

kernels::Update make_update(const kernels::Table& table, const UpdateRule& rule) {
  const auto row =
      std::ranges::find(table.updates, rule.optimizer->name, &kernels::UpdateRow::name);
  if (row == table.updates.end()) {
    throw Error("cards have no kernel for " + std::string(rule.optimizer->name));
  }
  return row->make(ChosenOptions(rule.optimizer->options, rule.options));
}

class CardWeights final : public WeightStore {
 public:
  CardWeights(std::shared_ptr<Device> device, std::vector<WeightTensor> tensors,
              const UpdateRule& rule)
      : device_(std::move(device)),
        tensors_(std::move(tensors)),
        lookahead_(lookahead_of(rule.options, rule.steps)),
        ema_(ema_of(rule.options)),
        update_(rule.optimizer == nullptr ? nullptr : make_update(device_->kernels(), rule)),
        stream_(device_->make_stream()),
        changed_(device_->make_event()) {
    std::size_t scratch = 0;
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
      const WeightTensor& tensor = tensors_[t];
      by_name_[tensor.name] = t;
      std::vector<std::size_t>& places = places_.emplace_back();
      for (const std::span<float> part : parts_of(tensor)) {
        places.push_back(bytes_);
        bytes_ += aligned(part.size_bytes());
      }
      scratch = std::max(
          scratch, kernels::update_scratch_bytes(static_cast<std::int64_t>(tensor.value.size())));
    }
    block_ = device_->allocate(std::max(bytes_, kAlignment));
    scratch_ = device_->allocate(std::max(scratch, kAlignment));
    staging_ = device_->allocate_host(std::max(bytes_, kAlignment));
    scalars_ = device_->allocate(sizeof(StepScalars));
    host_scalars_ = device_->allocate_host(sizeof(StepScalars));
  }

  ~CardWeights() override {
    try {
      stream_->synchronize();
    } catch (const Error&) {
      // The error was reported where it mattered: by begin_update() or store().
    }
  }

  void bind(Program& program) override {
    auto* ours = dynamic_cast<CudnnProgram*>(&program);
    if (ours == nullptr) throw Error("weights on a card serve programs on that card only");
    for (const ValueId id : weights_read_by(program.graph())) {
      const Value& value = program.graph().value(id);
      const auto found = by_name_.find(value.name);
      if (found == by_name_.end()) throw Error("the model has no tensor " + value.name);
      if (tensors_[found->second].value.size() !=
          static_cast<std::size_t>(element_count(value.shape))) {
        throw Error("the model's tensor " + value.name + " has another shape than the net's");
      }
      ours->bind_on_device(id, value_of(found->second), changed_);
    }
  }

  void load() override {
    stream_->synchronize();
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
      const auto parts = parts_of(tensors_[t]);
      for (std::size_t p = 0; p < parts.size(); ++p) {
        std::ranges::copy(std::as_bytes(parts[p]), staging_.get() + places_[t][p]);
      }
    }
    stream_->copy_to_device(block_.get(), staging_.get(), bytes_);
    stream_->record(*changed_);
  }

  void store() override {
    stream_->copy_to_host(staging_.get(), block_.get(), bytes_);
    stream_->synchronize();
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
      const auto parts = parts_of(tensors_[t]);
      for (std::size_t p = 0; p < parts.size(); ++p) fetch(parts[p], places_[t][p]);
    }
  }

  bool begin_update(std::span<const float> sums, double lr, std::int64_t step,
                    bool known_finite) override {
    if (!update_) throw Error("these weights have no optimiser: they are for evaluation");
    if (sums.size() > capacity_) {
      stream_->synchronize();
      sums_ = device_->allocate(sums.size_bytes());
      host_sums_ = device_->allocate_host(sums.size_bytes());
      capacity_ = sums.size();
    }
    copy_on_host(host_sums_.get(), sums.data(), sums.size_bytes());
    const StepScalars now{.step = step, .lr = lr, .finite = 1};
    std::memcpy(host_scalars_.get(), &now, sizeof now);
    stream_->copy_to_device(sums_.get(), host_sums_.get(), sums.size_bytes());
    stream_->copy_to_device(scalars_.get(), host_scalars_.get(), sizeof now);
    if (known_finite) return true;
    device_->kernels().finite_check(
        {sum_at(0), static_cast<std::int64_t>(sums.size()), scalars_on_device()}, *stream_);
    stream_->copy_to_host(host_scalars_.get(), scalars_.get(), sizeof now);
    stream_->synchronize();
    StepScalars after{};
    std::memcpy(&after, host_scalars_.get(), sizeof after);
    return after.finite != 0;
  }

  void update(std::span<const WeightUpdate> updates) override {
    const std::lock_guard lock(mutex_);
    for (const WeightUpdate& u : updates) {
      if (tensors_[u.tensor].lr_scale == 0) continue;
      update(u);
      update_averages(u.tensor);
    }
    stream_->record(*changed_);
  }

 private:
  float* floats_at(std::size_t place) const {
    return reinterpret_cast<float*>(block_.get() + place);
  }
  float* value_of(std::size_t t) const { return floats_at(places_[t].front()); }
  const float* sum_at(std::size_t offset) const {
    return reinterpret_cast<const float*>(sums_.get()) + offset;
  }
  StepScalars* scalars_on_device() const { return reinterpret_cast<StepScalars*>(scalars_.get()); }

  void fetch(std::span<float> to, std::size_t from) const {
    std::ranges::copy_n(staging_.get() + from, static_cast<std::ptrdiff_t>(to.size_bytes()),
                        std::as_writable_bytes(to).begin());
  }

  void update(const WeightUpdate& u) {
    const WeightTensor& tensor = tensors_[u.tensor];
    const auto count = static_cast<std::int64_t>(tensor.value.size());
    if (!tensor.parameter) {
      return device_->kernels().statistic({.value = value_of(u.tensor),
                                           .sum = sum_at(u.offset),
                                           .count = count,
                                           .scalars = scalars_on_device(),
                                           .momentum = u.momentum,
                                           .scale = u.scale},
                                          *stream_);
    }
    kernels::ParameterOnCard parameter{.value = value_of(u.tensor),
                                       .gradient = sum_at(u.offset),
                                       .state = {},
                                       .count = count,
                                       .scalars = scalars_on_device(),
                                       .lr_scale = tensor.lr_scale,
                                       .decay = tensor.decay,
                                       .scratch = scratch_.get()};
    for (std::size_t slot = 0; slot < tensor.state.size(); ++slot) {
      parameter.state[slot] = floats_at(places_[u.tensor][1 + slot]);
    }
    update_(parameter, *stream_);
  }

  void update_averages(std::size_t t) {
    const WeightTensor& tensor = tensors_[t];
    const std::size_t slow = 1 + tensor.state.size();  // index of lookahead's part, see parts_of()
    const auto update = [&](const Averaging& how, std::size_t part) {
      device_->kernels().average({.value = value_of(t),
                                  .average = floats_at(places_[t][part]),
                                  .count = static_cast<std::int64_t>(tensor.value.size()),
                                  .scalars = scalars_on_device(),
                                  .how = how},
                                 *stream_);
    };
    if (!tensor.slow.empty()) update(lookahead_, slow);
    if (!tensor.ema.empty()) update(ema_, slow + 1);
  }

  const std::shared_ptr<Device> device_;
  const std::vector<WeightTensor> tensors_;
  const Averaging lookahead_;
  const Averaging ema_;
  kernels::Update update_;  // empty: evaluation only
  std::map<std::string, std::size_t> by_name_;
  std::vector<std::vector<std::size_t>> places_;  // positions of parts_of(), in block_ and staging_
  std::size_t bytes_ = 0;
  Memory block_;    // holds all parts
  Memory scratch_;  // for one update
  Memory staging_;  // page-locked; same layout as block_
  Memory scalars_;  // holds a StepScalars
  Memory host_scalars_;
  Memory sums_;
  Memory host_sums_;
  std::size_t capacity_ = 0;  // capacity of the two above, in elements
  std::unique_ptr<Stream> stream_;
  std::shared_ptr<Event> changed_;
  std::mutex mutex_;
};

}  // namespace

std::unique_ptr<WeightStore> make_card_weights(std::shared_ptr<Device> device,
                                               std::vector<WeightTensor> tensors,
                                               const UpdateRule& rule) {
  return std::make_unique<CardWeights>(std::move(device), std::move(tensors), rule);
}

}  // namespace winnow::train::cudnn
