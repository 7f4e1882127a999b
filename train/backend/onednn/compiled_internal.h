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

// oneDNN's memory objects carry addresses themselves, so they are attached to a slot and follow it.
class Slots : public train::Slots {
 public:
  Slots();
  // `memory` may be created without an address.
  void attach(Id slot, const dnnl::memory& memory);
  // Once, when all pieces are known. `shared` has shared_bytes().
  void allocate(std::shared_ptr<std::byte> shared);
  void bind(Id slot, void* address);

 private:
  void lead(Id slot);

  std::vector<std::vector<dnnl::memory>> followers_;  // by slot, up to the last that has any
  std::shared_ptr<std::byte> block_;
  std::shared_ptr<std::byte> shared_;
};

// Uninitialised, on large pages where the system has them. Throws std::bad_alloc.
std::shared_ptr<std::byte> make_block(std::size_t bytes);

using Call = std::function<void(int threads)>;

// Packs one parameter.
struct Load {
  Call call;
  std::size_t begin, end;  // of the packed bytes of all parameters
};

// A graph as ready calls. Calls hold references into this object, so it stays where it is.
struct Compiled {
  Compiled() = default;
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  Slots slots;
  std::vector<std::optional<Slots::Id>> outside;  // by value: where the caller's memory is
  std::vector<Load> load;                         // parameters into the layouts of primitives
  std::vector<std::vector<Call>> nodes;
  KernelChoices choices;
};

// Makes every primitive and lays out memory. The caller allocates: slots.allocate(). Throws Error
// for what neither oneDNN nor own kernels can do.
std::unique_ptr<Compiled> compile_graph(const Graph& graph, const CompileOptions& options,
                                        const kernels::Table& table);

}  // namespace winnow::train::onednn
