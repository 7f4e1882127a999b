#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "train/backend/backend.h"
#include "train/backend/cudnn/device.h"

namespace winnow::train::cudnn {

// The addresses in device memory that a program works on. A slot is a piece of the one block that
// the program owns, or bound from outside.
class Slots {
 public:
  using Id = std::size_t;
  static constexpr std::size_t kAlignment = 256;

  // The arena of plan_memory comes first in the block; `own` pieces last for good; `scratch` pieces
  // last for one node, those of all nodes lie upon one another.
  explicit Slots(std::size_t arena_bytes);
  Id arena(std::size_t offset);
  Id own(std::size_t bytes);
  Id scratch(std::size_t bytes);
  void next_node() { scratch_now_ = 0; }
  Id bound();

  void allocate(Device& device);  // once, when all pieces are known
  void bind(Id slot, void* address) { slots_[slot].address = address; }
  std::byte* at(Id slot) const { return static_cast<std::byte*>(slots_[slot].address); }
  template <class T>
  T* as(Id slot) const {
    return static_cast<T*>(slots_[slot].address);
  }
  std::size_t block_bytes() const { return arena_bytes_ + own_bytes_ + scratch_bytes_; }

 private:
  enum class Place : std::uint8_t { kArena, kOwn, kScratch, kBound };
  struct Slot {
    Place place;
    std::size_t offset;
    void* address = nullptr;
  };
  Id add(Place place, std::size_t offset);

  std::vector<Slot> slots_;
  std::size_t arena_bytes_ = 0;
  std::size_t own_bytes_ = 0;
  std::size_t scratch_bytes_ = 0;
  std::size_t scratch_now_ = 0;
  Memory block_;
};

using Step = std::function<void(Stream&)>;

// What crosses between host and device: f32 as it is outside, or bytes.
struct Crossing {
  Slots::Id slot = 0;
  std::size_t bytes = 0;
  std::size_t staging = 0;  // where in the page-locked memory
};

// A graph as ready steps. Steps hold references into this object, so it stays where it is.
struct Compiled {
  explicit Compiled(std::size_t arena_bytes) : slots(arena_bytes) {}
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  Slots slots;
  std::vector<std::optional<Crossing>> inputs;      // by value: what the nodes read from outside
  std::vector<std::optional<Crossing>> parameters;  // likewise; bound to Weights, or copied
  std::vector<std::optional<Crossing>> outputs;     // likewise, what they write outside
  std::vector<std::size_t> written_by;              // by value: the node, for outputs
  std::size_t staging_bytes = 0;
  std::vector<Step> load;  // parameters into the layouts of products
  std::vector<std::vector<Step>> nodes;
  std::vector<std::string>
      plans;  // of each product, for people: "forward bf16 ...: cudnn engine 7"
};

// Lays out memory and makes every product; allocates one block. Throws Error for what the kernels
// cannot do, and when the device's memory does not suffice.
std::unique_ptr<Compiled> compile_graph(const Graph& graph, const CompileOptions& options,
                                        Device& device);

}  // namespace winnow::train::cudnn
