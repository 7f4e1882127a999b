#pragma once

#include <cstddef>
#include <cstdlib>
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
  explicit Slots(std::size_t arena_bytes);
  // `memory` may be created without an address.
  void attach(Id slot, const dnnl::memory& memory);
  void allocate();  // once, when all pieces are known
  void bind(Id slot, void* address);

 private:
  struct Free {
    void operator()(std::byte* block) const noexcept { std::free(block); }
  };
  void lead(Id slot);

  std::vector<std::vector<dnnl::memory>> followers_;  // by slot, up to the last that has any
  std::unique_ptr<std::byte, Free> block_;
};

using Step = std::function<void()>;

// A graph as ready steps. Steps hold references into this object, so it stays where it is.
struct Compiled {
  explicit Compiled(std::size_t arena_bytes)
      : engine(dnnl::engine::kind::cpu, 0), stream(engine), slots(arena_bytes) {}
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  dnnl::engine engine;
  dnnl::stream stream;
  Slots slots;
  std::vector<std::optional<Slots::Id>> outside;  // by value: where the caller's memory is
  std::vector<Step> load;                         // parameters into the layouts of primitives
  std::vector<std::vector<Step>> nodes;
};

std::unique_ptr<Compiled> compile_graph(const Graph& graph, const CompileOptions& options,
                                        const kernels::Table& table);

}  // namespace winnow::train::onednn
