#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace winnow::comm {

// A counter on a cache line of its own. Initially zero.
struct alignas(64) Counter {
  std::atomic<std::uint64_t> value;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);  // so that processes can share it

// The memory layout of a group, the same on all of its ranks.
struct RingShape {
  int ranks;
  std::size_t slots;          // per ring
  std::size_t slot_elements;  // in f32

  // Chooses a layout with several messages in flight between any two ranks, in a few MiB of memory.
  static RingShape of(int ranks);
  std::size_t bytes() const noexcept;
};

// A queue of float messages from one rank to one or more others, in shared memory.
//
// Memory   Not owned.
// Threads  One writer; each reader is another thread.
class Ring {
 public:
  Ring(const RingShape& shape, Counter* written, std::span<Counter> read, std::uint64_t* counts,
       float* slots)
      : shape_(shape), written_(written), read_(read), counts_(counts), slots_(slots) {}

  // For the writer.
  bool has_room() const noexcept;  // for all readers
  bool has_room(std::size_t reader) const noexcept;
  // Writes a message. There must be room, and the message must fit into a slot.
  void write(std::span<const float> message) noexcept;

  // For reader number `reader`.
  bool has_message(std::size_t reader) const noexcept;
  std::span<const float> front(std::size_t reader) const noexcept;  // valid until pop()
  void pop(std::size_t reader) noexcept;

 private:
  RingShape shape_;
  Counter* written_;
  std::span<Counter> read_;  // one for each reader
  std::uint64_t* counts_;    // number of elements of the message in each slot
  float* slots_;
};

// The shared memory of a group, and where each ring is in it. Initially zero; not owned.
class RingMemory {
 public:
  RingMemory(const RingShape& shape, std::byte* memory) : shape_(shape), memory_(memory) {}

  const RingShape& shape() const noexcept { return shape_; }
  std::atomic<std::uint64_t>& token() const noexcept { return counter(0).value; }
  std::atomic<std::uint64_t>& left(int rank) const noexcept { return counter(1 + at(rank)).value; }
  Ring pair(int from, int to) const noexcept;  // one reader: 0; from != to
  // The ring of a rank to all others, which are readers 0 .. ranks-2 in order of their numbers.
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

// The index of `rank` among the peers of `other`.
constexpr std::size_t peer_number(int rank, int other) noexcept {
  return static_cast<std::size_t>(rank < other ? rank : rank - 1);
}

}  // namespace winnow::comm
