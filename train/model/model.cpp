#include "train/model/model.h"

#include <algorithm>

#include "train/backend/host_weights.h"
#include "train/optim/averaging.h"

namespace winnow::train {

Model::Tensor& Model::find(const std::string& name) { return tensors[index_of(name)]; }

std::size_t Model::index_of(const std::string& name) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const Tensor& t) { return t.about.name == name; });
  if (found == tensors.end()) throw Error("the model has no tensor " + name);
  return static_cast<std::size_t>(found - tensors.begin());
}

std::int64_t Model::parameter_count() const {
  std::int64_t count = 0;
  for (const Tensor& t : tensors) {
    if (t.about.kind == ValueKind::kParameter) count += element_count(t.about.shape);
  }
  return count;
}

Model make_model(const Graph& graph,
                 const std::function<std::vector<float>(const Value&)>& initial) {
  Model model;
  for (const Value& value : graph.values) {
    if (value.kind != ValueKind::kParameter && value.kind != ValueKind::kBuffer) continue;
    model.tensors.push_back({value, initial(value), {}});
  }
  return model;
}

std::vector<WeightTensor> weight_tensors(Model& model) {
  std::vector<WeightTensor> tensors;
  for (Model::Tensor& t : model.tensors) {
    tensors.push_back({.name = t.about.name,
                       .value = t.data,
                       .state = {t.state.begin(), t.state.end()},
                       .parameter = t.about.kind == ValueKind::kParameter,
                       .decay = t.about.decay,
                       .lr_scale = t.lr_scale,
                       .slow = t.slow,
                       .ema = t.ema});
  }
  return tensors;
}

void allocate_state(Model& model, std::span<const std::string_view> slots) {
  model.slots.assign(slots.begin(), slots.end());
  for (Model::Tensor& t : model.tensors) {
    if (t.about.kind != ValueKind::kParameter) continue;
    t.state.assign(slots.size(), std::vector<float>(t.data.size(), 0.0F));
  }
}

namespace {

// Copies in place if the size is right already.
void copy_to(std::vector<float>& average, const std::vector<float>& value) {
  average.resize(value.size());
  std::ranges::copy(value, average.begin());
}

}  // namespace

void begin_averages(Model& model, const OptionValues& options) {
  const bool looks_ahead = lookahead_of(options).every > 0;
  const bool has_ema = ema_of(options).every > 0;
  for (Model::Tensor& t : model.tensors) {
    if (looks_ahead && t.about.kind == ValueKind::kParameter) copy_to(t.slow, t.data);
    if (has_ema) copy_to(t.ema, t.data);
  }
}

std::string first_not_finite(const Model& model) {
  for (const Model::Tensor& t : model.tensors) {
    for (const std::vector<float>* numbers : {&t.data, &t.slow, &t.ema}) {
      if (!all_finite(*numbers)) return t.about.name;
    }
  }
  return {};
}

// Swaps elements, so that spans of the vectors stay valid.
void swap_ema(Model& model) {
  for (Model::Tensor& t : model.tensors) std::ranges::swap_ranges(t.data, t.ema);
}

std::unique_ptr<WeightStore> place_weights(Backend& backend, Model& model, const UpdateRule& rule) {
  if (rule.optimizer != nullptr) {
    allocate_state(model, rule.optimizer->slots);
    begin_averages(model, rule.options);
  }
  std::unique_ptr<WeightStore> weights = backend.make_weights(weight_tensors(model), rule);
  return weights ? std::move(weights) : make_host_weights(weight_tensors(model), rule);
}

}  // namespace winnow::train
