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

// Slots in device memory.
class Slots : public train::Slots {
 public:
  Slots() : train::Slots(kAlignment) {}
  void allocate(Device& device);  // called once, when all pieces are known

 private:
  Memory block_;
};

using Call = std::function<void(Stream&)>;

// A transfer between host and device: f32, as outside, or bytes.
struct Crossing {
  Slots::Id slot = 0;
  std::size_t bytes = 0;
  std::size_t staging = 0;  // position in the page-locked memory
};

// A graph as calls that are ready to run. They hold references into this object, so it must not
// move.
struct Compiled {
  Compiled() = default;
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  Slots slots;
  std::vector<std::optional<Crossing>> inputs;      // by value: read by nodes from outside
  std::vector<std::optional<Crossing>> parameters;  // by value: bound to a WeightStore, or copied
  std::vector<std::optional<Crossing>> outputs;     // by value: written by nodes to outside
  std::vector<std::size_t> written_by;              // by value: the node that writes an output
  std::size_t staging_bytes = 0;
  std::vector<Call> load;  // packs parameters into the layouts of products
  std::vector<std::vector<Call>> nodes;
  KernelChoices choices;
};

// Creates all products and lays out memory. The caller allocates it: slots.allocate().
// Throws Error for what the kernels do not support.
std::unique_ptr<Compiled> compile_graph(const Graph& graph, const CompileOptions& options,
                                        Device& device);

}  // namespace winnow::train::cudnn
