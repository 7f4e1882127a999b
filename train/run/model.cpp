#include "train/run/model.h"

#include <algorithm>
#include <functional>

#include "train/nets/nets.h"
#include "train/optim/host_weights.h"

namespace winnow::train {
namespace {

constexpr std::string_view kRunningMean = ".running_mean";

const NamedTensor& find_tensor(const std::vector<NamedTensor>& tensors, const std::string& name,
                               const Shape& shape, const std::string& where) {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const NamedTensor& t) { return t.name == name; });
  if (found == tensors.end()) {
    throw FormatError(where + " has no tensor " + name + "; it belongs to another net");
  }
  if (found->shape != shape) {
    throw FormatError(where + ": tensor " + name + " has shape " + to_string(found->shape) +
                      ", the net needs " + to_string(shape));
  }
  return *found;
}

}  // namespace

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

Model make_model(const Graph& graph, std::uint64_t seed) {
  Model model;
  for (const Value& value : graph.values) {
    const bool parameter = value.kind == ValueKind::kParameter;
    if (!parameter && value.kind != ValueKind::kState) continue;
    Model::Tensor tensor{value, initial_value(value, seed), {}};
    if (parameter) tensor.momentum.assign(tensor.data.size(), 0.0F);
    model.tensors.push_back(std::move(tensor));
  }
  return model;
}

std::vector<WeightTensor> weight_tensors(Model& model) {
  std::vector<WeightTensor> tensors;
  for (Model::Tensor& t : model.tensors) {
    tensors.push_back({.name = t.about.name,
                       .value = t.data,
                       .momentum = t.momentum,
                       .decay = t.about.decay,
                       .rate = t.rate});
  }
  return tensors;
}

std::unique_ptr<Weights> place_weights(Backend& backend, Model& model, const UpdateRule& rule) {
  std::unique_ptr<Weights> weights = backend.make_weights(weight_tensors(model), rule);
  return weights ? std::move(weights) : make_host_weights(weight_tensors(model), rule);
}

std::vector<NamedTensor> to_state_dict(const Model& model, std::int64_t steps) {
  std::vector<NamedTensor> tensors;
  for (const Model::Tensor& t : model.tensors) {
    tensors.push_back(make_f32(t.about.name, t.about.shape, t.data));
    if (t.about.name.ends_with(kRunningMean)) {
      const std::string layer = t.about.name.substr(0, t.about.name.size() - kRunningMean.size());
      tensors.push_back(make_i64(layer + ".num_batches_tracked", steps));
    }
  }
  return tensors;
}

std::vector<NamedTensor> to_momenta(const Model& model) {
  std::vector<NamedTensor> tensors;
  for (const Model::Tensor& t : model.tensors) {
    if (t.about.kind == ValueKind::kParameter) {
      tensors.push_back(make_f32("momentum." + t.about.name, t.about.shape, t.momentum));
    }
  }
  return tensors;
}

// Spans bound to the vectors stay valid: values are copied into place.
void load_state_dict(Model& model, const std::vector<NamedTensor>& tensors,
                     const std::string& where) {
  for (Model::Tensor& t : model.tensors) {
    const auto values = f32_values(find_tensor(tensors, t.about.name, t.about.shape, where));
    std::copy(values.begin(), values.end(), t.data.begin());
  }
}

void load_momenta(Model& model, const std::vector<NamedTensor>& tensors, const std::string& where) {
  for (Model::Tensor& t : model.tensors) {
    if (t.about.kind != ValueKind::kParameter) continue;
    const auto values =
        f32_values(find_tensor(tensors, "momentum." + t.about.name, t.about.shape, where));
    std::copy(values.begin(), values.end(), t.momentum.begin());
  }
}

}  // namespace winnow::train
