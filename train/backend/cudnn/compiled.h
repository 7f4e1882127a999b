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

// In device memory.
class Slots : public train::Slots {
 public:
  Slots() : train::Slots(kAlignment) {}
  void allocate(Device& device);  // once, when all pieces are known

 private:
  Memory block_;
};

using Call = std::function<void(Stream&)>;

// What crosses between host and device: f32 as it is outside, or bytes.
struct Crossing {
  Slots::Id slot = 0;
  std::size_t bytes = 0;
  std::size_t staging = 0;  // where in the page-locked memory
};

// A graph as ready calls. Calls hold references into this object, so it stays where it is.
struct Compiled {
  Compiled() = default;
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  Slots slots;
  std::vector<std::optional<Crossing>> inputs;      // by value: what the nodes read from outside
  std::vector<std::optional<Crossing>> parameters;  // likewise; bound to Weights, or copied
  std::vector<std::optional<Crossing>> outputs;     // likewise, what they write outside
  std::vector<std::size_t> written_by;              // by value: the node, for outputs
  std::size_t staging_bytes = 0;
  std::vector<Call> load;  // parameters into the layouts of products
  std::vector<std::vector<Call>> nodes;
  KernelChoices choices;
};

// Makes every product and lays out memory. The caller allocates: slots.allocate(). Throws Error for
// what the kernels cannot do.
std::unique_ptr<Compiled> compile_graph(const Graph& graph, const CompileOptions& options,
                                        Device& device);

}  // namespace winnow::train::cudnn
