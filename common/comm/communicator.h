#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/bytes.h"
#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// An operation in flight. Its buffers belong to the communicator until wait() returns; destruction
// waits too. wait() rethrows what the operation threw.
class [[nodiscard]] Pending {
 public:
  Pending() = default;  // already done
  explicit Pending(std::function<void()> wait) : wait_(std::move(wait)) {}
  Pending(Pending&& other) noexcept : wait_(std::exchange(other.wait_, nullptr)) {}
  Pending& operator=(Pending&& other) {
    if (this != &other) {
      wait();
      wait_ = std::exchange(other.wait_, nullptr);
    }
    return *this;
  }
  ~Pending();
  void wait() {
    if (const auto wait = std::exchange(wait_, nullptr)) wait();
  }

 private:
  std::function<void()> wait_;
};

enum class Reduction : std::uint8_t { kSum, kMax };

// P processes that act together. Every collective is called by all ranks in the same order with
// equal counts, by one thread at a time; one progress engine inside moves the data. All-to-alls are
// a class of their own: the thread that begins them may be another than that of all the others, and
// the ranks need the same order only among them. Throws SystemError.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const noexcept = 0;        // 0 .. size()-1
  virtual int size() const noexcept = 0;        // P
  virtual int local_rank() const noexcept = 0;  // among the ranks of this machine
  virtual int local_size() const noexcept = 0;
  // Of each rank the number of its machine, counted from 0 in the order of their lowest ranks.
  virtual std::vector<int> nodes() const = 0;

  // buffer = sum over ranks, elementwise, on every rank, all ranks the same bits. The order of
  // additions depends only on size(), the schedule and its options, never on timing.
  virtual Pending start_all_reduce(std::span<float> buffer, const Schedule& schedule,
                                   const ScheduleOptions& options) = 0;
  // The same of integers: any order of additions gives the same bits, so neither schedule nor
  // options nor size() matter to the result. Sums wrap.
  virtual Pending start_all_reduce(std::span<std::int32_t> buffer, Reduction reduction,
                                   const Schedule& schedule, const ScheduleOptions& options) = 0;

  // Personal exchange: part r of `out` goes to rank r, part r of `in` comes from it. Offsets in
  // bytes, multiples of 4, size()+1 of them, ascending; parts may be empty; the two buffers do not
  // overlap. The part a rank has for itself is copied before this returns. Messages have
  // options.segment_elements of 4 bytes (at most 1 GiB; kExchangeOptions of schedule/all_to_all.h
  // is a good choice), several at once. It yields to all-reduces: while one is under way on this
  // rank and moves, no further message is begun here, so that it slows gradients by the few
  // messages under way at most, and ends later for it. An all-reduce that only waits for a rank
  // that has not begun it holds nothing up: that rank may be waiting for this exchange. Any number
  // may be in flight. Arguments that make no sense are an Error, at once; a part whose size, or
  // segments that the sender and the receiver do not agree on, a SystemError from wait(), before
  // anything of it is sent; this and any other failure of a message ends all that is in flight.
  virtual Pending start_all_to_all(std::span<const std::byte> out,
                                   std::span<const std::size_t> out_offsets,
                                   std::span<std::byte> in, std::span<const std::size_t> in_offsets,
                                   const ScheduleOptions& options) = 0;

  // Small control traffic; not for gradients. Blocking.
  virtual void all_reduce(std::span<double> buffer) = 0;         // sum
  virtual void all_reduce(std::span<std::uint64_t> buffer) = 0;  // sum modulo 2^64
  virtual void broadcast(std::span<std::byte> buffer, int root) = 0;
  virtual void barrier() = 0;
  // As start_all_to_all, but of the control traffic, by the MPI library's own algorithm, and of
  // less than 2 GiB each way: what start_all_to_all is tested and measured against.
  virtual void all_to_all(std::span<const std::byte> out, std::span<const std::size_t> out_offsets,
                          std::span<std::byte> in, std::span<const std::size_t> in_offsets) = 0;

  // Stops all ranks, now; used by main after an error on one of them.
  [[noreturn]] virtual void abort(int exit_code) noexcept = 0;
};

// Rank 0 of 1.
std::unique_ptr<Communicator> make_single();

// The text of rank 0, on every rank.
std::string broadcast_text(Communicator& comm, const std::string& text);

}  // namespace winnow::comm
