#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/bytes.h"
#include "common/comm/elements.h"
#include "common/comm/schedule/hierarchical.h"
#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// An operation in flight. wait() rethrows what the operation threw.
//
// Buffers  belong to the communicator until wait() returns; nothing reads or writes them after that
//          but messages that a failed engine could not get rid of: those only read
// End      destruction waits too
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

// What start() works on, and how.
struct Collective {
  Elements buffer;
  Reduction reduction = Reduction::kSum;
  Wire wire = Wire::kF32;
  Task task = Task::kAllReduce;
};

// Throws Error where the sizes of a collective's two buffers differ.
void require_equal_sizes(std::size_t in, std::size_t out);

// P processes that act together; one progress engine inside moves the data.
//
// Ranks    every collective is called by all ranks in the same order, with equal counts
// Threads  one at a time; all-to-alls are a class of their own: another thread may begin them, and
//          their order counts only among themselves
// Throws   SystemError
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const noexcept = 0;        // 0 .. size()-1
  virtual int size() const noexcept = 0;        // P
  virtual int local_rank() const noexcept = 0;  // among the ranks of this machine
  virtual int local_size() const noexcept = 0;
  virtual const Placement& placement() const noexcept = 0;  // of all ranks on machines

  // Carries out transfers, of a Schedule or half of a ShareSchedule.
  //
  // All-reduce  the buffer becomes its sum over ranks, elementwise, the same bits on every rank.
  //             Sums of integers wrap. Those of bf16 and f16 are those of f32 with the wire of
  //             that type: a copy in f32 is kept meanwhile
  // Shares      a reduce-scatter and an all-gather do as ShareSchedule says
  // In          `transfers`: for this placement() and buffer.size() elements; they stay until
  //             wait() returns, and may serve any number of collectives
  // Order       of additions: that of the transfers, never one of timing; integers have the same
  //             bits in any order
  // NaN         and infinities travel
  // Throws      Error at once: a transfer that is not of this buffer; the largest of floats; a wire
  //             of other elements than f32. wait(): SystemError. Ranks that ask for different
  //             things (size, type, reduction, wire, messages) are named with both sides' numbers,
  //             before data of one get into a result of the other
  virtual Pending start(const Collective& what, std::span<const Transfer> transfers) = 0;

  Pending start_all_reduce(const Elements& buffer, std::span<const Transfer> transfers,
                           Wire wire = Wire::kF32) {
    return start({buffer, Reduction::kSum, wire}, transfers);
  }
  Pending start_all_reduce(const Elements& buffer, Reduction reduction,
                           std::span<const Transfer> transfers) {
    return start({buffer, reduction}, transfers);
  }

  Pending start_reduce_scatter(const Elements& buffer, std::span<const Transfer> transfers,
                               Wire wire = Wire::kF32) {
    return start({buffer, Reduction::kSum, wire, Task::kReduceScatter}, transfers);
  }
  Pending start_all_gather(const Elements& buffer, std::span<const Transfer> transfers,
                           Wire wire = Wire::kF32) {
    return start({buffer, Reduction::kSum, wire, Task::kAllGather}, transfers);
  }

  // Out of place: `out` becomes the sum of all ranks' `in`, which is copied before this returns.
  template <class T>
  Pending start_all_reduce(std::span<const T> in, std::span<T> out,
                           std::span<const Transfer> transfers, Wire wire = Wire::kF32) {
    require_equal_sizes(in.size(), out.size());
    std::ranges::copy(in, out.begin());
    return start_all_reduce(out, transfers, wire);
  }

  // The same by hierarchical_parts(): inside machines not by messages but by memory that ranks
  // share, which the first call makes.
  //
  // In      `parts`: for this placement() and buffer.size() elements; they stay until wait() ends
  // Wire    that of messages between machines
  // Throws  SystemError at once, on all ranks: there is no such memory
  virtual Pending start(std::span<float> buffer, const HierarchicalParts& parts, Wire wire) = 0;

  Pending start_all_reduce(std::span<float> buffer, const HierarchicalParts& parts,
                           Wire wire = Wire::kF32) {
    return start(buffer, parts, wire);
  }

  // Whether that has the memory it needs, which this makes. The same on all ranks.
  virtual bool can_share_memory() = 0;

  // Personal exchange: part r of `out` goes to rank r, part r of `in` comes from it.
  //
  // In         size()+1 ascending offsets in bytes, multiples of 4; parts may be empty; the two
  //            buffers do not overlap
  // Own part   is copied before this returns
  // Messages   of options.segment_elements of 4 bytes (at most 1 GiB), several at once;
  //            kExchangeOptions of schedule/all_to_all.h is a good choice
  // In flight  any number
  // Yields     to all-reduces: while one is under way on this rank and moves, no further message is
  //            begun here. An all-reduce that only waits for a rank that has not begun it holds
  //            nothing up: that rank may be waiting for this exchange
  // Throws     Error at once: arguments that make no sense. SystemError from wait(), before
  //            anything is sent: ranks that do not agree on the size of a part or on segments.
  //            This and any other failure of a message ends all that is in flight
  virtual Pending start_all_to_all(std::span<const std::byte> out,
                                   std::span<const std::size_t> out_offsets,
                                   std::span<std::byte> in, std::span<const std::size_t> in_offsets,
                                   const ScheduleOptions& options) = 0;

  // From the next operation on a checksum goes with each message of start() and start_all_to_all():
  // where one arrives damaged, wait() throws SystemError, which names its two ranks. All ranks the
  // same; at first none has.
  virtual void use_checksums(bool use) = 0;

  // Small control traffic; not for gradients. Blocking.
  virtual void all_reduce(std::span<double> buffer) = 0;         // sum
  virtual void all_reduce(std::span<std::uint64_t> buffer) = 0;  // sum modulo 2^64
  virtual void broadcast(std::span<std::byte> buffer, int root) = 0;
  virtual void barrier() = 0;
  // As start_all_reduce and start_all_to_all do, but by the MPI library's own algorithms, and of
  // less than 2^31 elements or bytes: what those are tested and measured against. The all-reduce
  // blocks the engine: nothing else may be in flight.
  virtual void library_all_reduce(const Elements& buffer) = 0;  // sum; Error: bf16 or f16
  virtual void all_to_all(std::span<const std::byte> out, std::span<const std::size_t> out_offsets,
                          std::span<std::byte> in, std::span<const std::size_t> in_offsets) = 0;

  // A barrier that does not block. Ready when every rank has come to it, with the time at which
  // this one heard so.
  using Arrival = std::shared_future<std::chrono::steady_clock::time_point>;
  virtual Arrival start_barrier() = 0;
  virtual double adding_seconds() const noexcept = 0;  // on additions of all-reduces so far

  // Stops all ranks, now; used by main after an error on one of them.
  [[noreturn]] virtual void abort(int exit_code) noexcept = 0;
};

// Rank 0 of 1.
std::unique_ptr<Communicator> make_single();

// The number or text of rank `root`, on every rank; those of the other ranks are ignored.
template <std::integral T>
T broadcast(Communicator& comm, T value, int root) {
  comm.broadcast(std::as_writable_bytes(std::span(&value, 1)), root);
  return value;
}
std::string broadcast(Communicator& comm, std::string text, int root);
std::string broadcast_text(Communicator& comm, const std::string& text);  // of rank 0

// The rows of all ranks, in their order, on every rank. Rows are of equal length.
std::vector<std::uint64_t> all_gather(Communicator& comm, std::span<const std::uint64_t> row);
// The texts likewise; of any lengths. They all take as much memory as the longest.
std::vector<std::string> all_gather(Communicator& comm, const std::string& text);

}  // namespace winnow::comm
