#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <vector>

#include "train/backend/backend.h"
#include "train/backend/onednn/kernels.h"
#include "train/backend/slots.h"

namespace winnow::train::onednn {

// Slots for oneDNN, whose memory objects hold addresses themselves. Attached to a slot, they are
// updated with its address.
class Slots : public train::Slots {
 public:
  Slots();
  // `memory` may be created without an address.
  void attach(Id slot, const dnnl::memory& memory);
  // Allocates the block. Called once, when all pieces are known. `shared` has shared_bytes().
  void allocate(std::shared_ptr<std::byte> shared);
  void bind(Id slot, void* address);

 private:
  void lead(Id slot);

  std::vector<std::vector<dnnl::memory>> followers_;  // by slot, up to the last one that has any
  std::shared_ptr<std::byte> block_;
  std::shared_ptr<std::byte> shared_;
};

// Allocates uninitialised memory, on large pages if the system has them. Throws std::bad_alloc.
std::shared_ptr<std::byte> make_block(std::size_t bytes);

using Call = std::function<void(int threads)>;

// Packs one parameter.
struct Load {
  Call call;
  std::size_t begin, end;  // range in the packed bytes of all parameters
};

// A graph as calls that are ready to run. They hold references into this object, so it must not
// move.
struct Compiled {
  Compiled() = default;
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  Slots slots;
  std::vector<std::optional<Slots::Id>> outside;  // by value: the slot of the caller's memory
  std::vector<Load> load;                         // packs parameters into the layouts of primitives
  std::vector<std::vector<Call>> nodes;
  KernelChoices choices;
  std::vector<NodeKernel> kernels;         // for each node
  KernelCandidates* candidates = nullptr;  // receives the candidates of every layer
};

// Creates all primitives and lays out memory. The caller allocates it: slots.allocate().
// Out     `candidates`: receives the kernels of every layer with a choice; nullptr: not wanted
// Throws  Error: an operation that neither oneDNN nor our own kernels support.
//         UsageError: an imposed kernel that oneDNN does not have, or a layer that the graph does
//         not have.
std::unique_ptr<Compiled> compile_graph(const Graph& graph, const CompileOptions& options,
                                        const kernels::Table& table,
                                        KernelCandidates* candidates = nullptr);

}  // namespace winnow::train::onednn
