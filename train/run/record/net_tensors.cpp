#include "train/run/record/net_tensors.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>

#include "common/comm/agreement.h"
#include "train/evaluate/gather.h"
#include "train/graph/stages.h"

namespace winnow::train {
namespace {

// Without numbers.
Model::Tensor outline_of(const Model::Tensor& tensor) {
  return {.about = tensor.about, .data = {}, .state = {}, .lr_scale = tensor.lr_scale};
}

// The vectors of a tensor that have numbers, in a fixed order.
template <class Tensor, class Visit>
void for_each_vector(Tensor& tensor, const Visit& visit) {
  visit(tensor.data);
  for (auto& slot : tensor.state) visit(slot);
  if (!tensor.slow.empty()) visit(tensor.slow);
  if (!tensor.ema.empty()) visit(tensor.ema);
}

std::vector<float> joined(const Model::Tensor& tensor) {
  std::vector<float> all;
  for_each_vector(tensor, [&](const std::vector<float>& numbers) {
    all.insert(all.end(), numbers.begin(), numbers.end());
  });
  return all;
}

// Copies in place, because weights of the run are views of the vectors.
void divide(std::span<const float> all, Model::Tensor& tensor) {
  for_each_vector(tensor, [&](std::vector<float>& numbers) {
    std::ranges::copy(all.first(numbers.size()), numbers.begin());
    all = all.subspan(numbers.size());
  });
}

}  // namespace

NetTensors::NetTensors(const Graph& forward, const Model& net, const RankStages& ranks,
                       comm::Communicator& comm)
    : stage_(net.tensors.size(), 0), ranks_(ranks), comm_(comm) {
  if (ranks.is_pipeline()) stage_ = stages_of_tensors(forward);
  net_.classes = net.classes;
  std::ranges::transform(net.tensors, std::back_inserter(net_.tensors), outline_of);
}

bool NetTensors::is_held_here(std::size_t tensor) const {
  return !ranks_.is_pipeline() || stage_[tensor] == ranks_.stage_of(comm_.rank());
}

Model NetTensors::held_here(const Model& net) const {
  Model held{.tensors = {}, .slots = net.slots, .classes = net.classes};
  for (std::size_t t = 0; t < net.tensors.size(); ++t) {
    if (is_held_here(t)) held.tensors.push_back(net.tensors[t]);
  }
  return held;
}

// A model of one tensor, with zeros, and with state and averages as tensors in `held` have them.
Model NetTensors::part_of(std::size_t tensor, const Model& held) const {
  Model part{.tensors = {net_.tensors[tensor]}, .slots = held.slots, .classes = net_.classes};
  Model::Tensor& t = part.tensors.front();
  const bool is_parameter = t.about.kind == ValueKind::kParameter;
  const auto any = [&](std::vector<float> Model::Tensor::*average) {
    return std::ranges::any_of(held.tensors,
                               [&](const Model::Tensor& one) { return !(one.*average).empty(); });
  };
  t.data.resize(static_cast<std::size_t>(element_count(t.about.shape)));
  if (is_parameter) t.state.assign(held.slots.size(), t.data);
  if (is_parameter && any(&Model::Tensor::slow)) t.slow = t.data;
  if (any(&Model::Tensor::ema)) t.ema = t.data;
  return part;
}

void NetTensors::hand_out(Model& held, const Fill& fill) const {
  const auto from_root = [&](std::vector<float>& numbers) {
    comm_.broadcast(std::as_writable_bytes(std::span(numbers)), 0);
  };
  if (!ranks_.is_pipeline()) {
    on_root(comm_, [&] { fill(held); });
    for (Model::Tensor& tensor : held.tensors) for_each_vector(tensor, from_root);
    return;
  }
  std::size_t next = 0;  // index in `held`
  for (std::size_t t = 0; t < net_.tensors.size(); ++t) {
    Model part = part_of(t, held);
    on_root(comm_, [&] { fill(part); });
    std::vector<float> numbers = joined(part.tensors.front());
    from_root(numbers);
    if (is_held_here(t)) divide(numbers, held.tensors[next++]);
  }
}

void NetTensors::gather(const Model& held, const Take& take) const {
  const bool is_root = comm_.rank() == 0;
  if (!ranks_.is_pipeline()) {
    if (is_root) take(held);
    return;
  }
  std::size_t next = 0;  // index in `held`
  for (std::size_t t = 0; t < net_.tensors.size(); ++t) {
    Model part = part_of(t, held);
    const bool is_here = is_held_here(t);
    std::vector<float> numbers = joined(is_here ? held.tensors[next] : part.tensors.front());
    if (is_here) ++next;
    const int from = ranks_.first_rank(stage_[t]);
    if (from != 0) {
      std::vector<std::size_t> bytes(static_cast<std::size_t>(comm_.size()), 0);
      bytes[static_cast<std::size_t>(from)] = numbers.size() * sizeof(float);
      gather_on_root(comm_, bytes, std::as_writable_bytes(std::span(numbers)));
    }
    if (!is_root) continue;
    divide(numbers, part.tensors.front());
    take(part);
  }
}

}  // namespace winnow::train
