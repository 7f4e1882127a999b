#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace winnow::comm {

// On a cache line of its own. Zero at first.
struct alignas(64) Counter {
  std::atomic<std::uint64_t> value;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);  // so that processes can share it

// How the memory of a group is laid out. The same on all of its ranks.
struct RingShape {
  int ranks;
  std::size_t slots;          // of each ring
  std::size_t slot_elements;  // of f32

  // Several messages under way between any two ranks, and no more than some MiB of memory.
  static RingShape of(int ranks);
  std::size_t bytes() const noexcept;
};

// A queue of messages of floats from one rank to one or more others, in memory that they share.
//
// Memory   is not owned
// Threads  one writes; each reader is another one
class Ring {
 public:
  Ring(const RingShape& shape, Counter* written, std::span<Counter> read, std::uint64_t* counts,
       float* slots)
      : shape_(shape), written_(written), read_(read), counts_(counts), slots_(slots) {}

  // The writer's.
  bool has_room() const noexcept;  // for all readers
  bool has_room(std::size_t reader) const noexcept;
  void write(std::span<const float> message) noexcept;  // there is room, and the message fits

  // Those of reader number `reader`.
  bool has_message(std::size_t reader) const noexcept;
  std::span<const float> front(std::size_t reader) const noexcept;  // until pop()
  void pop(std::size_t reader) noexcept;

 private:
  RingShape shape_;
  Counter* written_;
  std::span<Counter> read_;  // of each reader
  std::uint64_t* counts_;    // of each slot: elements of its message
  float* slots_;
};

// The memory of a group, and where its parts are in it. All zero at first; not owned.
class RingMemory {
 public:
  RingMemory(const RingShape& shape, std::byte* memory) : shape_(shape), memory_(memory) {}

  const RingShape& shape() const noexcept { return shape_; }
  std::atomic<std::uint64_t>& token() const noexcept { return counter(0).value; }
  std::atomic<std::uint64_t>& left(int rank) const noexcept { return counter(1 + at(rank)).value; }
  Ring pair(int from, int to) const noexcept;  // one reader: 0; from != to
  // To all others, which are readers 0 .. ranks-2 in the order of their numbers.
  Ring to_all(int from) const noexcept;

 private:
  static std::size_t at(int rank) noexcept { return static_cast<std::size_t>(rank); }
  std::size_t peers() const noexcept { return at(shape_.ranks - 1); }
  Counter& counter(std::size_t number) const noexcept {
    return reinterpret_cast<Counter*>(memory_)[number];
  }
  Ring ring(std::size_t number, std::size_t written, std::size_t read,
            std::size_t readers) const noexcept;

  RingShape shape_;
  std::byte* memory_;
};

// The number of `rank` among the peers of `other`.
constexpr std::size_t peer_number(int rank, int other) noexcept {
  return static_cast<std::size_t>(rank < other ? rank : rank - 1);
}

}  // namespace winnow::comm
