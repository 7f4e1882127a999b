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

namespace winnow::train::onednn {

// The addresses a program works on. A slot is either a piece of the one block of memory that the
// program owns, or bound by the caller and free to change. oneDNN's memory objects carry addresses
// themselves, so they are attached to a slot and follow it.
class Slots {
 public:
  using Id = std::size_t;

  // The arena of plan_memory comes first in the block; `own` pieces last for good; `scratch` pieces
  // last for one node, those of all nodes lie upon one another.
  explicit Slots(std::size_t arena_bytes);
  Id arena(std::size_t offset);
  Id own(std::size_t bytes);
  Id scratch(std::size_t bytes);
  void next_node() { scratch_now_ = 0; }
  Id bound();

  // `memory` may be created without an address.
  void attach(Id slot, const dnnl::memory& memory);
  void allocate();  // once, when all pieces are known
  void bind(Id slot, void* address);

  void* at(Id slot) const { return slots_[slot].address; }
  template <class T>
  T* as(Id slot) const {
    return static_cast<T*>(at(slot));
  }
  std::size_t block_bytes() const { return arena_bytes_ + own_bytes_ + scratch_bytes_; }

 private:
  enum class Place : std::uint8_t { kArena, kOwn, kScratch, kBound };
  struct Slot {
    Place place;
    std::size_t offset;
    void* address;
    std::vector<dnnl::memory> followers;
  };
  struct Free {
    void operator()(void* block) const noexcept { std::free(block); }
  };
  Id add(Place place, std::size_t offset);

  std::vector<Slot> slots_;
  std::size_t arena_bytes_ = 0;
  std::size_t own_bytes_ = 0;
  std::size_t scratch_bytes_ = 0;
  std::size_t scratch_now_ = 0;
  std::unique_ptr<void, Free> block_;
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
