#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace winnow::train {

// The addresses that a program works on. Each slot is of one kind:
// arena    A place in the arena of lay_out_arena(), for computed values.
// own      Memory of this program alone, kept from node to node and step to step.
// scratch  Valid while one node runs. All nodes share the same scratch area.
// shared   Packed weights, one block for all programs compiled from the same graph.
// bound    The caller's memory, which may change between runs.
// Arena, own and scratch memory form one block. Every slot is aligned to `alignment` bytes.
class Slots {
 public:
  using Id = std::size_t;

  explicit Slots(std::size_t alignment) : alignment_(alignment) {}
  void reserve_arena(std::size_t bytes) { arena_bytes_ = aligned(bytes); }
  Id arena(std::size_t offset);
  Id own(std::size_t bytes);
  Id scratch(std::size_t bytes);
  // Begins another node, whose scratch slots may reuse the memory of earlier nodes.
  void next_node() { scratch_now_ = 0; }
  // Bytes of scratch memory reserved since next_node().
  std::size_t node_scratch_bytes() const { return scratch_now_; }
  Id shared(std::size_t bytes);
  Id bound();

  std::size_t block_bytes() const { return arena_bytes_ + own_bytes_ + scratch_bytes_; }
  // Bytes of the scratch area, which block_bytes() includes.
  std::size_t scratch_bytes() const { return scratch_bytes_; }
  std::size_t shared_bytes() const { return shared_bytes_; }
  // Sets the addresses of both blocks of memory. Called once, when the sizes of all slots are
  // known.
  void place(std::byte* block, std::byte* shared);
  void bind(Id slot, void* address) { slots_[slot].address = address; }

  std::size_t size() const { return slots_.size(); }
  void* at(Id slot) const { return slots_[slot].address; }
  template <class T>
  T* as(Id slot) const {
    return static_cast<T*>(at(slot));
  }

 private:
  enum class Place : std::uint8_t { kArena, kOwn, kScratch, kShared, kBound };
  struct Slot {
    Place place;
    std::size_t offset;
    void* address = nullptr;
  };
  std::size_t aligned(std::size_t bytes) const;
  Id add(Place place, std::size_t offset);

  std::vector<Slot> slots_;
  std::size_t alignment_;
  std::size_t arena_bytes_ = 0;
  std::size_t own_bytes_ = 0;
  std::size_t scratch_bytes_ = 0;
  std::size_t scratch_now_ = 0;
  std::size_t shared_bytes_ = 0;
};

}  // namespace winnow::train
