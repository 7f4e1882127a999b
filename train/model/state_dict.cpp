#include "train/model/state_dict.h"

#include <algorithm>
#include <string_view>

#include "common/error.h"

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

std::vector<NamedTensor> to_optimizer_state(const Model& model) {
  std::vector<NamedTensor> tensors;
  for (const Model::Tensor& t : model.tensors) {
    for (std::size_t slot = 0; slot < t.state.size(); ++slot) {
      tensors.push_back(
          make_f32(model.slots[slot] + "." + t.about.name, t.about.shape, t.state[slot]));
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

void load_optimizer_state(Model& model, const std::vector<NamedTensor>& tensors,
                          const std::string& where) {
  for (Model::Tensor& t : model.tensors) {
    for (std::size_t slot = 0; slot < t.state.size(); ++slot) {
      const std::string name = model.slots[slot] + "." + t.about.name;
      const auto values = f32_values(find_tensor(tensors, name, t.about.shape, where));
      std::copy(values.begin(), values.end(), t.state[slot].begin());
    }
  }
}

}  // namespace winnow::train
