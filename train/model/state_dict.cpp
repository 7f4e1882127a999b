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

std::vector<NamedTensor> state_dict(const Model& model, std::vector<float> Model::Tensor::*numbers,
                                    std::int64_t steps) {
  std::vector<NamedTensor> tensors;
  for (const Model::Tensor& t : model.tensors) {
    tensors.push_back(make_f32(t.about.name, t.about.shape, t.*numbers));
    if (t.about.name.ends_with(kRunningMean)) {
      const std::string layer = t.about.name.substr(0, t.about.name.size() - kRunningMean.size());
      tensors.push_back(make_i64(layer + ".num_batches_tracked", steps));
    }
  }
  return tensors;
}

// Copies the values in place, so that spans of the vectors stay valid.
void load(std::vector<float>& into, const std::vector<NamedTensor>& tensors,
          const std::string& name, const Shape& shape, const std::string& where) {
  const auto values = f32_values(find_tensor(tensors, name, shape, where));
  std::ranges::copy(values, into.begin());
}

// Visits the optimiser's vectors of a tensor, with their names in a checkpoint.
template <class Tensor, class Visit>
void for_each_state(const std::vector<std::string>& slots, Tensor& t, const Visit& visit) {
  for (std::size_t slot = 0; slot < t.state.size(); ++slot) {
    visit(slots[slot] + "." + t.about.name, t.state[slot]);
  }
  if (!t.slow.empty()) visit("lookahead." + t.about.name, t.slow);
}

}  // namespace

std::vector<NamedTensor> to_state_dict(const Model& model, std::int64_t steps) {
  return state_dict(model, &Model::Tensor::data, steps);
}

std::vector<NamedTensor> to_ema_state_dict(const Model& model, std::int64_t steps) {
  const bool any = !model.tensors.empty() && !model.tensors.front().ema.empty();
  return any ? state_dict(model, &Model::Tensor::ema, steps) : std::vector<NamedTensor>{};
}

std::vector<NamedTensor> to_optimizer_state(const Model& model) {
  std::vector<NamedTensor> tensors;
  for (const Model::Tensor& t : model.tensors) {
    for_each_state(model.slots, t, [&](const std::string& name, const std::vector<float>& values) {
      tensors.push_back(make_f32(name, t.about.shape, values));
    });
  }
  return tensors;
}

Model model_of(const Graph& graph, const std::vector<NamedTensor>& tensors,
               const std::string& where) {
  return make_model(graph, [&](const Value& value) {
    return f32_values(find_tensor(tensors, value.name, value.shape, where));
  });
}

void load_state_dict(Model& model, const std::vector<NamedTensor>& tensors,
                     const std::string& where) {
  for (Model::Tensor& t : model.tensors) load(t.data, tensors, t.about.name, t.about.shape, where);
}

void load_ema_state_dict(Model& model, const std::vector<NamedTensor>& tensors,
                         const std::string& where) {
  for (Model::Tensor& t : model.tensors) {
    if (!t.ema.empty()) load(t.ema, tensors, t.about.name, t.about.shape, where);
  }
}

void load_optimizer_state(Model& model, const std::vector<NamedTensor>& tensors,
                          const std::string& where) {
  for (Model::Tensor& t : model.tensors) {
    for_each_state(model.slots, t, [&](const std::string& name, std::vector<float>& values) {
      load(values, tensors, name, t.about.shape, where);
    });
  }
}

}  // namespace winnow::train
