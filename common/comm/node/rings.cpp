#include <algorithm>

#include "common/comm/node/rings_internal.h"

namespace winnow::comm {

namespace {

constexpr std::size_t kSlots = 4;
constexpr std::size_t kMostSlotElements = 16'384;  // 64 KiB: a few fit into a cache
constexpr std::size_t kLeastSlotElements = 256;
constexpr std::size_t kMostElements = std::size_t{8}
                                      << 20;  // for all slots; exceeded with hundreds of ranks

struct Counts {
  explicit Counts(const RingShape& shape)
      : peers(static_cast<std::size_t>(shape.ranks - 1)),
        ranks(static_cast<std::size_t>(shape.ranks)),
        rings(ranks * peers + ranks),
        counters(1 + ranks + 2 * ranks * peers + ranks + ranks * peers),
        counts(rings * shape.slots) {}
  std::size_t peers;
  std::size_t ranks;
  std::size_t rings;     // one for each pair, then one for each rank
  std::size_t counters;  // token, left; written and read for pairs; written, then read for ranks
  std::size_t counts;
};

std::size_t in_lines(std::size_t bytes) {
  return (bytes + sizeof(Counter) - 1) / sizeof(Counter) * sizeof(Counter);
}

}  // namespace

RingShape RingShape::of(int ranks) {
  RingShape shape{.ranks = ranks, .slots = kSlots, .slot_elements = kMostSlotElements};
  const std::size_t slots = Counts(shape).counts;
  // Multiples of cache lines.
  shape.slot_elements =
      std::clamp(kMostElements / slots / 16 * 16, kLeastSlotElements, kMostSlotElements);
  return shape;
}

std::size_t RingShape::bytes() const noexcept {
  const Counts n(*this);
  return n.counters * sizeof(Counter) + in_lines(n.counts * sizeof(std::uint64_t)) +
         n.counts * slot_elements * sizeof(float);
}

bool Ring::has_room(std::size_t reader) const noexcept {
  const std::uint64_t written = written_->value.load(std::memory_order_relaxed);
  return written - read_[reader].value.load(std::memory_order_acquire) < shape_.slots;
}

bool Ring::has_room() const noexcept {
  for (std::size_t reader = 0; reader < read_.size(); ++reader) {
    if (!has_room(reader)) return false;
  }
  return true;
}

void Ring::write(std::span<const float> message) noexcept {
  const std::uint64_t written = written_->value.load(std::memory_order_relaxed);
  const std::size_t slot = written % shape_.slots;
  counts_[slot] = message.size();
  std::ranges::copy(message, slots_ + slot * shape_.slot_elements);
  written_->value.store(written + 1, std::memory_order_release);
}

bool Ring::has_message(std::size_t reader) const noexcept {
  return written_->value.load(std::memory_order_acquire) !=
         read_[reader].value.load(std::memory_order_relaxed);
}

std::span<const float> Ring::front(std::size_t reader) const noexcept {
  const std::size_t slot = read_[reader].value.load(std::memory_order_relaxed) % shape_.slots;
  return {slots_ + slot * shape_.slot_elements, counts_[slot]};
}

void Ring::pop(std::size_t reader) noexcept {
  std::atomic<std::uint64_t>& read = read_[reader].value;
  read.store(read.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

Ring RingMemory::pair(int from, int to) const noexcept {
  const std::size_t number = at(from) * peers() + peer_number(to, from);
  const std::size_t first = 1 + at(shape_.ranks);
  return ring(number, first + 2 * number, first + 2 * number + 1, 1);
}

Ring RingMemory::to_all(int from) const noexcept {
  const std::size_t pairs = at(shape_.ranks) * peers();
  const std::size_t first = 1 + at(shape_.ranks) + 2 * pairs;
  return ring(pairs + at(from), first + at(from), first + at(shape_.ranks) + at(from) * peers(),
              peers());
}

Ring RingMemory::ring(std::size_t number, std::size_t written, std::size_t read,
                      std::size_t readers) const noexcept {
  const Counts n(shape_);
  std::byte* const counts = memory_ + n.counters * sizeof(Counter);
  std::byte* const slots = counts + in_lines(n.counts * sizeof(std::uint64_t));
  const std::size_t first = number * shape_.slots;
  return {shape_,
          &counter(written),
          {&counter(read), readers},
          reinterpret_cast<std::uint64_t*>(counts) + first,
          reinterpret_cast<float*>(slots) + first * shape_.slot_elements};
}

}  // namespace winnow::comm
