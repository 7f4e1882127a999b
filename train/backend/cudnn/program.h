#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "train/backend/backend.h"
#include "train/backend/cudnn/compiled.h"
#include "train/backend/cudnn/device.h"
#include "train/backend/load_state.h"

namespace winnow::train::cudnn {

// A compiled graph on a GPU with two streams: one computes, the other copies outputs to the host
// meanwhile.
// Inputs and outputs pass through page-locked memory of the program, so the caller may bind any
// memory.
class CudnnProgram final : public Program {
 public:
  CudnnProgram(std::shared_ptr<Device> device, const Graph& graph, const CompileOptions& options);
  ~CudnnProgram() override;

  const Graph& graph() const noexcept override { return graph_; }
  void bind(ValueId id, std::span<float> data) override;
  void bind(ValueId id, std::span<std::uint8_t> data) override;
  void load_parameters(int part, int parts) override;
  void run(std::size_t first_node, std::size_t last_node) override;
  void wait(std::size_t last_node) override;
  std::size_t arena_bytes() const noexcept override {
    return compiled_->slots.block_bytes() + compiled_->slots.shared_bytes();
  }

  KernelChoices choices() const override { return compiled_->choices; }

  // From now on, the parameter or buffer `id` is read from device memory at `address`.
  // load_parameters() waits for the event `changed` before it packs.
  void bind_on_device(ValueId id, float* address, std::shared_ptr<const Event> changed);

 private:
  // Transfer to the host of the outputs that one run() computes.
  struct Delivery {
    std::size_t first_node = 0;
    std::size_t first_output = 0, last_output = 0;  // range of indices in outputs_
    bool pending = false;
    std::unique_ptr<Event> computed{};
    std::unique_ptr<Event> arrived{};
  };

  void bind(ValueId id, void* data, std::size_t size, bool bytes);
  bool is_outside(std::size_t value) const;
  void check_bound(const std::vector<std::optional<Crossing>>& crossings) const;
  void load_all();
  void send(ValueId id, const Crossing& crossing);
  void send(const std::vector<std::optional<Crossing>>& crossings);
  void send_back(std::size_t last_node);
  void allocate_parameters();
  void deliver(std::size_t first_node, std::size_t last_node);

  const Graph graph_;
  const std::shared_ptr<Device> device_;
  std::unique_ptr<Compiled> compiled_;
  Memory staging_;     // page-locked memory for transfers
  Memory parameters_;  // device copies of parameters that are bound to host memory
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<Stream> delivering_;
  std::unique_ptr<Event> sent_;  // event after which the staging memory may be written again
  // Event after which the WeightStore's weights are up to date.
  std::shared_ptr<const Event> changed_;
  std::vector<void*> host_;       // for each value by ValueId, its address in the caller's memory
  std::vector<bool> on_device_;   // for each value by ValueId, whether it is bound to a WeightStore
  std::vector<ValueId> outputs_;  // outputs, ordered by the node that writes them
  std::vector<ValueId> shared_;   // subset of outputs_ that the caller may change
  // Number of values in shared_ that were already sent to the GPU in this step.
  std::size_t sent_back_ = 0;
  std::vector<Delivery> deliveries_;  // transfers of one step, in order; reused for the next
  std::size_t deliveries_used_ = 0;
  LoadState loaded_;
  std::size_t next_node_ = 0;
};

}  // namespace winnow::train::cudnn
