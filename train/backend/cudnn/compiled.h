#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "train/backend/backend.h"
#include "train/backend/cudnn/device.h"
#include "train/backend/slots.h"

namespace winnow::train::cudnn {

// Addresses that a program works on (train/backend/slots.h), in device memory.
class Slots : public train::Slots {
 public:
  Slots() : train::Slots(kAlignment) {}
  // Allocates the memory; called once, when the sizes of all slots are known.
  void allocate(Device& device);

 private:
  Memory block_;
};

using Call = std::function<void(Stream&)>;

// A value that is copied between host and device: f32, as in the caller's memory, or bytes.
struct Crossing {
  Slots::Id slot = 0;
  std::size_t bytes = 0;
  std::size_t staging = 0;  // byte offset in the page-locked staging memory
};

// A graph compiled to calls that are ready to run. The calls hold references into this object, so
// it must not move.
struct Compiled {
  Compiled() = default;
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  Slots slots;
  // Transfers of inputs that nodes read, from the caller's memory; indexed by ValueId.
  std::vector<std::optional<Crossing>> inputs;
  // Parameters that nodes read, in a WeightStore or copied from the caller's memory; indexed by
  // ValueId.
  std::vector<std::optional<Crossing>> parameters;
  // Transfers of outputs that nodes write, to the caller's memory; indexed by ValueId.
  std::vector<std::optional<Crossing>> outputs;
  // For each value by ValueId, the node that writes it, if it is an output.
  std::vector<std::size_t> written_by;
  std::size_t staging_bytes = 0;
  // Calls that pack parameters into the layouts that matrix products and convolutions read.
  std::vector<Call> load;
  std::vector<std::vector<Call>> nodes;
  KernelChoices choices;
};

// Compiles `graph`: chooses all products and lays out memory. The caller then allocates it by
// slots.allocate().
// Throws  Error for operations that the kernels do not support.
std::unique_ptr<Compiled> compile_graph(const Graph& graph, const CompileOptions& options,
                                        Device& device);

}  // namespace winnow::train::cudnn
