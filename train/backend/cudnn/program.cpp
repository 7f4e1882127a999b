#include "train/backend/cudnn/program.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "common/error.h"
#include "train/backend/checks.h"
#include "train/backend/cudnn/host_copy.h"

namespace winnow::train::cudnn {

CudnnProgram::CudnnProgram(std::shared_ptr<Device> device, const Graph& graph,
                           const CompileOptions& options)
    : graph_(graph),
      device_(std::move(device)),
      compiled_(compile_graph(graph_, options, *device_)),
      staging_(device_->allocate_host(std::max<std::size_t>(compiled_->staging_bytes, 1))),
      stream_(device_->make_stream()),
      delivering_(device_->make_stream()),
      sent_(device_->make_event()),
      host_(graph_.values.size(), nullptr),
      on_device_(graph_.values.size(), false) {
  compiled_->slots.allocate(*device_);
  for (std::size_t v = 0; v < graph_.values.size(); ++v) {
    if (compiled_->outputs[v]) outputs_.push_back(static_cast<ValueId>(v));
  }
  std::ranges::stable_sort(outputs_, {}, [&](ValueId id) {
    return compiled_->written_by[static_cast<std::size_t>(id)];
  });
  std::ranges::copy_if(outputs_, std::back_inserter(shared_), [&](ValueId id) {
    return std::ranges::any_of(graph_.outputs, [&](const Output& output) {
      return output.value == id && is_shared(output);
    });
  });
}

// The device may still be using memory that is freed here.
CudnnProgram::~CudnnProgram() {
  try {
    stream_->synchronize();
    delivering_->synchronize();
  } catch (const Error&) {
    // The error was reported where it mattered: by wait().
  }
}

bool CudnnProgram::is_outside(std::size_t value) const {
  return compiled_->inputs[value] || compiled_->parameters[value] || compiled_->outputs[value];
}

void CudnnProgram::bind(ValueId id, std::span<float> data) {
  bind(id, data.data(), data.size(), false);
}
void CudnnProgram::bind(ValueId id, std::span<std::uint8_t> data) {
  bind(id, data.data(), data.size(), true);
}

void CudnnProgram::bind(ValueId id, void* data, std::size_t size, bool bytes) {
  const bool known = id >= 0 && static_cast<std::size_t>(id) < graph_.values.size();
  const bool outside = known && is_outside(static_cast<std::size_t>(id));
  check_binding(graph_, id, outside, size, bytes);
  if (!outside) return;
  host_[static_cast<std::size_t>(id)] = data;
  on_device_[static_cast<std::size_t>(id)] = false;
  if (compiled_->parameters[static_cast<std::size_t>(id)]) loaded_.forget();
}

void CudnnProgram::bind_on_device(ValueId id, float* address,
                                  std::shared_ptr<const Event> changed) {
  const auto value = static_cast<std::size_t>(id);
  if (!compiled_->parameters.at(value)) {
    throw Error("cannot bind '" + graph_.value(id).name +
                "' to device memory: it is not a parameter");
  }
  compiled_->slots.bind(compiled_->parameters[value]->slot, address);
  on_device_[value] = true;
  changed_ = std::move(changed);
  loaded_.forget();
}

void CudnnProgram::check_bound(const std::vector<std::optional<Crossing>>& crossings) const {
  for (std::size_t v = 0; v < crossings.size(); ++v) {
    if (crossings[v] && !on_device_[v] && host_[v] == nullptr) throw_unbound(graph_.values[v]);
  }
}

// Copies from the caller's memory to the device. The staging memory must be writable.
void CudnnProgram::send(ValueId id, const Crossing& c) {
  copy_on_host(staging_.get() + c.staging, host_[static_cast<std::size_t>(id)], c.bytes);
  stream_->copy_to_device(compiled_->slots.at(c.slot), staging_.get() + c.staging, c.bytes);
}

void CudnnProgram::send(const std::vector<std::optional<Crossing>>& crossings) {
  sent_->wait();
  for (std::size_t v = 0; v < crossings.size(); ++v) {
    if (crossings[v] && !on_device_[v]) send(static_cast<ValueId>(v), *crossings[v]);
  }
  stream_->record(*sent_);
}

// Sends shared outputs of nodes [0, last_node) back that were not sent yet.
void CudnnProgram::send_back(std::size_t last_node) {
  const auto is_due = [&] {
    return sent_back_ < shared_.size() &&
           compiled_->written_by[static_cast<std::size_t>(shared_[sent_back_])] < last_node;
  };
  if (!is_due()) return;
  wait(last_node);
  sent_->wait();
  for (; is_due(); ++sent_back_) {
    const ValueId id = shared_[sent_back_];
    send(id, *compiled_->outputs[static_cast<std::size_t>(id)]);
  }
  stream_->record(*sent_);
}

// Allocates device memory for the parameters that are not in a WeightStore.
void CudnnProgram::allocate_parameters() {
  if (parameters_) return;
  std::size_t total = 0;
  for (std::size_t v = 0; v < host_.size(); ++v) {
    if (compiled_->parameters[v] && !on_device_[v])
      total += aligned(compiled_->parameters[v]->bytes);
  }
  if (total == 0) return;
  parameters_ = device_->allocate(total);
  std::byte* next = parameters_.get();
  for (std::size_t v = 0; v < host_.size(); ++v) {
    if (!compiled_->parameters[v] || on_device_[v]) continue;
    compiled_->slots.bind(compiled_->parameters[v]->slot, next);
    next += aligned(compiled_->parameters[v]->bytes);
  }
}

// A stream takes its work in order from one thread, so the first part loads everything.
void CudnnProgram::load_parameters(int part, int parts) {
  check_part(part, parts);
  if (part == 0) load_all();
  loaded_.mark(part, parts);
}

void CudnnProgram::load_all() {
  check_bound(compiled_->parameters);
  allocate_parameters();
  if (changed_) stream_->wait(*changed_);
  send(compiled_->parameters);
  for (const Call& call : compiled_->load) call(*stream_);
}

void CudnnProgram::run(std::size_t first_node, std::size_t last_node) {
  check_range(graph_, next_node_, first_node, last_node);
  if (first_node == 0) {
    loaded_.check_complete();
    check_bound(compiled_->inputs);
    check_bound(compiled_->outputs);
    wait(next_node_);  // otherwise outputs of the previous step would be overwritten
    deliveries_used_ = 0;
    sent_back_ = 0;
    send(compiled_->inputs);
  } else {
    send_back(first_node);
  }
  for (std::size_t n = first_node; n < last_node; ++n) {
    for (const Call& call : compiled_->nodes[n]) call(*stream_);
  }
  deliver(first_node, last_node);
  next_node_ = last_node;
}

void CudnnProgram::deliver(std::size_t first_node, std::size_t last_node) {
  const auto written_by = [&](ValueId id) {
    return compiled_->written_by[static_cast<std::size_t>(id)];
  };
  const auto begin = std::ranges::lower_bound(outputs_, first_node, {}, written_by);
  const auto end = std::ranges::lower_bound(outputs_, last_node, {}, written_by);
  if (begin == end) return;
  if (deliveries_used_ == deliveries_.size()) {
    deliveries_.push_back({.computed = device_->make_event(), .arrived = device_->make_event()});
  }
  Delivery& delivery = deliveries_[deliveries_used_++];
  delivery.first_node = first_node;
  delivery.first_output = static_cast<std::size_t>(begin - outputs_.begin());
  delivery.last_output = static_cast<std::size_t>(end - outputs_.begin());
  delivery.pending = true;
  stream_->record(*delivery.computed);
  delivering_->wait(*delivery.computed);
  for (std::size_t i = delivery.first_output; i < delivery.last_output; ++i) {
    const Crossing& c = *compiled_->outputs[static_cast<std::size_t>(outputs_[i])];
    delivering_->copy_to_host(staging_.get() + c.staging, compiled_->slots.at(c.slot), c.bytes);
  }
  delivering_->record(*delivery.arrived);
}

void CudnnProgram::wait(std::size_t last_node) {
  if (last_node > next_node_) {
    throw Error("cannot wait for node " + std::to_string(last_node) + ": only " +
                std::to_string(next_node_) + " have been given to run");
  }
  for (std::size_t d = 0; d < deliveries_used_; ++d) {
    Delivery& delivery = deliveries_[d];
    if (!delivery.pending || delivery.first_node >= last_node) continue;
    delivery.arrived->wait();
    for (std::size_t i = delivery.first_output; i < delivery.last_output; ++i) {
      const auto value = static_cast<std::size_t>(outputs_[i]);
      const Crossing& c = *compiled_->outputs[value];
      copy_on_host(host_[value], staging_.get() + c.staging, c.bytes);
    }
    delivery.pending = false;
  }
}

}  // namespace winnow::train::cudnn
