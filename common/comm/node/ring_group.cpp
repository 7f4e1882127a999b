#include <algorithm>
#include <string>
#include <utility>

#include "common/comm/node/ring_group_internal.h"
#include "common/error.h"
#include "common/failpoint.h"

namespace winnow::comm {

namespace {

void add(std::span<float> sum, std::span<const float> terms) {
  float* __restrict const a = sum.data();
  const float* __restrict const b = terms.data();
  for (std::size_t i = 0; i < sum.size(); ++i) a[i] += b[i];
}

[[noreturn]] void throw_left(int rank) {
  throw SystemError(
      "rank " + std::to_string(rank) +
      " of this machine has left an all-reduce before its end; see the message of that "
      "rank for the reason");
}

}  // namespace

RingGroup::RingGroup(int rank, const RingShape& shape, std::shared_ptr<std::byte> memory)
    : owned_(std::move(memory)), memory_(shape, owned_.get()), rank_(rank) {}

void RingGroup::start_reduce_scatter(std::span<float> buffer, std::span<const std::size_t> shares) {
  scatters_.push_back(make_operation(buffer, shares));
}

void RingGroup::start_all_gather(std::span<float> buffer, std::span<const std::size_t> shares) {
  gathers_.push_back(make_operation(buffer, shares));
}

NodeProgress RingGroup::advance() {
  progress_.moved = false;
  const auto go_on = [this](std::deque<Operation>& operations, auto carry_out, auto& finished) {
    if (operations.empty()) return;
    progress_.moved |= (this->*carry_out)(operations.front());
    if (!is_finished(operations.front())) return;
    operations.pop_front();
    ++finished;
    progress_.moved = true;
  };
  go_on(scatters_, &RingGroup::reduce_scatter, progress_.reduce_scatters);
  go_on(gathers_, &RingGroup::all_gather, progress_.all_gathers);
  return progress_;
}

void RingGroup::leave() noexcept {
  scatters_.clear();
  gathers_.clear();
  memory_.left(rank_).store(1, std::memory_order_release);
}

RingGroup::Operation RingGroup::make_operation(std::span<float> buffer,
                                               std::span<const std::size_t> shares) const {
  const auto ranks = static_cast<std::size_t>(size());
  if (shares.size() != ranks + 1 || !std::ranges::is_sorted(shares) ||
      shares.back() > buffer.size()) {
    throw Error("the " + std::to_string(ranks) + " ranks of a machine were given " +
                std::to_string(shares.size()) + " offsets of their shares of " +
                std::to_string(buffer.size()) + " elements; one more offset than there are ranks" +
                " is needed, and offsets must ascend inside the buffer");
  }
  return {buffer, {shares.begin(), shares.end()}, std::vector<std::size_t>(ranks)};
}

// The next piece of a part; empty at its end.
std::span<float> RingGroup::next_piece(Operation& operation, int part) const {
  const auto at = static_cast<std::size_t>(part);
  const std::size_t begin = operation.shares[at] + operation.done[at];
  return operation.buffer.subspan(
      begin, std::min(memory_.shape().slot_elements, operation.shares[at + 1] - begin));
}

bool RingGroup::is_finished(const Operation& operation) const {
  for (std::size_t part = 0; part < operation.done.size(); ++part) {
    if (operation.done[part] < operation.shares[part + 1] - operation.shares[part]) return false;
  }
  return true;
}

bool RingGroup::reduce_scatter(Operation& operation) {
  bool moved = false;
  for (int shift = 1; shift < size(); ++shift) {
    const int to = (rank_ + shift) % size();
    const std::span<float> piece = next_piece(operation, to);
    if (piece.empty()) continue;
    Ring ring = memory_.pair(rank_, to);
    if (!ring.has_room()) {
      expect_reader(ring, 0, to);
      continue;
    }
    before_message("node.reduce_scatter", to);
    ring.write(piece);
    operation.done[static_cast<std::size_t>(to)] += piece.size();
    moved = true;
  }
  return add_up(operation) || moved;
}

bool RingGroup::add_up(Operation& operation) {
  const std::span<float> piece = next_piece(operation, rank_);
  if (piece.empty()) return false;
  bool all_here = true;
  for (int from = 0; from < size(); ++from) {
    if (from != rank_)
      all_here &= !expect(memory_.pair(from, rank_), 0, from, piece.size()).empty();
  }
  if (!all_here) return false;
  for (int from = 0; from < size(); ++from) {
    if (from == rank_) continue;
    Ring ring = memory_.pair(from, rank_);
    add(piece, ring.front(0));
    ring.pop(0);
  }
  operation.done[static_cast<std::size_t>(rank_)] += piece.size();
  return true;
}

bool RingGroup::all_gather(Operation& operation) {
  bool moved = false;
  const std::span<float> own = next_piece(operation, rank_);
  Ring to_all = memory_.to_all(rank_);
  if (!own.empty() && size() > 1 && !to_all.has_room()) {
    for (int to = 0; to < size(); ++to) {
      if (to != rank_) expect_reader(to_all, peer_number(to, rank_), to);
    }
  } else if (!own.empty()) {
    before_message("node.all_gather", -1);
    if (size() > 1) to_all.write(own);
    operation.done[static_cast<std::size_t>(rank_)] += own.size();
    moved = true;
  }
  for (int shift = 1; shift < size(); ++shift) {
    const int from = (rank_ + shift) % size();
    const std::span<float> piece = next_piece(operation, from);
    if (piece.empty()) continue;
    Ring ring = memory_.to_all(from);
    const std::size_t me = peer_number(rank_, from);
    const std::span<const float> message = expect(ring, me, from, piece.size());
    if (message.empty()) continue;
    std::ranges::copy(message, piece.begin());
    ring.pop(me);
    operation.done[static_cast<std::size_t>(from)] += piece.size();
    moved = true;
  }
  return moved;
}

// Throws SystemError if rank `to` has left while its ring is full.
void RingGroup::expect_reader(const Ring& ring, std::size_t reader, int to) const {
  const bool left = memory_.left(to).load(std::memory_order_acquire) != 0;
  if (left && !ring.has_room(reader)) throw_left(to);
}

// The next message, of `count` elements; empty: not here yet. Throws SystemError if it will never
// come, or has another size.
std::span<const float> RingGroup::expect(const Ring& ring, std::size_t reader, int from,
                                         std::size_t count) const {
  if (!ring.has_message(reader)) {
    const bool left = memory_.left(from).load(std::memory_order_acquire) != 0;
    if (!ring.has_message(reader)) {
      if (!left) return {};
      throw_left(from);
    }
  }
  const std::span<const float> message = ring.front(reader);
  if (message.size() != count) {
    throw SystemError("rank " + std::to_string(from) + " of this machine sent " +
                      std::to_string(message.size()) + " elements where " + std::to_string(count) +
                      " were expected; the ranks must reduce buffers of equal size in the same"
                      " order, with the same schedule and options");
  }
  return message;
}

}  // namespace winnow::comm
