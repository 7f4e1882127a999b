#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace winnow::train {

// The addresses a program works on. A slot is either a piece of the one block of memory that the
// program owns, or bound by the caller and free to change.
class Slots {
 public:
  using Id = std::size_t;

  // The arena of lay_out_arena comes first in the block; `own` pieces last for good; `scratch` pieces
  // last for one node, those of all nodes lie upon one another. All begin at multiples of
  // `alignment` bytes.
  Slots(std::size_t arena_bytes, std::size_t alignment);
  Id arena(std::size_t offset);
  Id own(std::size_t bytes);
  Id scratch(std::size_t bytes);
  void next_node() { scratch_now_ = 0; }
  Id bound();

  std::size_t block_bytes() const { return arena_bytes_ + own_bytes_ + scratch_bytes_; }
  // Once, when all pieces are known: the block begins here.
  void place(std::byte* block);
  void bind(Id slot, void* address) { slots_[slot].address = address; }

  std::size_t size() const { return slots_.size(); }
  void* at(Id slot) const { return slots_[slot].address; }
  template <class T>
  T* as(Id slot) const {
    return static_cast<T*>(at(slot));
  }

 private:
  enum class Place : std::uint8_t { kArena, kOwn, kScratch, kBound };
  struct Slot {
    Place place;
    std::size_t offset;
    void* address = nullptr;
  };
  std::size_t aligned(std::size_t bytes) const;
  Id add(Place place, std::size_t offset);

  std::vector<Slot> slots_;
  std::size_t alignment_;
  std::size_t arena_bytes_;
  std::size_t own_bytes_ = 0;
  std::size_t scratch_bytes_ = 0;
  std::size_t scratch_now_ = 0;
};

}  // namespace winnow::train
