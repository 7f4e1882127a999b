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

// A running operation of a Communicator. wait() waits for its end, and throws if it failed.
//
// Buffers  Must not be used until wait() has returned. After a failure, pending messages may still
//          read them, but not write.
// End      The destructor waits, too.
class [[nodiscard]] Pending {
 public:
  Pending() = default;  // already finished
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

// Arguments of start().
struct Collective {
  Elements buffer;
  Reduction reduction = Reduction::kSum;
  Wire wire = Wire::kF32;
  Task task = Task::kAllReduce;
  // The ranks that take part. 0: all ranks. Else a number of the caller's choice for a group of
  // ranks, which only these ranks use. Collectives of different groups may be in different order.
  std::uint32_t group = 0;
};

// Throws Error if a collective's input and output buffers have different sizes.
void require_equal_sizes(std::size_t in, std::size_t out);

// P processes that work together (ranks), as of an MPI job, with a progress engine that moves data.
//
// Ranks    Collectives are operations that all ranks call, in the same order and with equal sizes.
//          Only start() with transfers may be of some ranks: the others call it with no transfers,
//          and any buffer.
// Threads  One at a time. All-to-alls are an exception: another thread may start them, and only
//          their order among themselves matters.
// Errors   SystemError.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const noexcept = 0;        // 0 .. size()-1
  virtual int size() const noexcept = 0;        // P
  virtual int local_rank() const noexcept = 0;  // number of this rank among those of its machine
  virtual int local_size() const noexcept = 0;
  virtual const Placement& placement() const noexcept = 0;  // machine of each rank

  // Starts a collective, given as this rank's transfers of a Schedule, or of half of a
  // ShareSchedule.
  //
  // All-reduce  The buffer becomes its elementwise sum over ranks, with the same bits on every
  //             rank. Integer sums wrap. bf16 and f16 are summed as f32, with messages in their
  //             type and a temporary f32 copy.
  // Shares      A reduce-scatter and an all-gather work as ShareSchedule says.
  // In          `transfers` must be for this placement() and buffer.size() elements. They must live
  //             until wait() returns, and may be reused.
  // Some ranks  Without transfers this rank takes no part: its buffer stays, and wait() waits for
  //             nobody.
  // Order       Additions follow the order of the transfers, never timing. Integers have the same
  //             bits in any order.
  // NaN         NaN and infinities are passed on.
  // Errors      Error at once: a transfer outside the buffer; the maximum of floats; a wire for
  //             elements other than f32. wait(): SystemError. If ranks request different things
  //             (size, type, reduction, wire, messages), the error names them with the numbers of
  //             both sides, before any data are mixed.
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

  // Starts an all-reduce out of place: `out` becomes the sum of `in` over all ranks. `in` is copied
  // before this returns.
  template <class T>
  Pending start_all_reduce(std::span<const T> in, std::span<T> out,
                           std::span<const Transfer> transfers, Wire wire = Wire::kF32) {
    require_equal_sizes(in.size(), out.size());
    std::ranges::copy(in, out.begin());
    return start_all_reduce(out, transfers, wire);
  }

  // Starts an all-reduce by hierarchical_parts(): ranks of one machine exchange data through shared
  // memory, only machines exchange messages. The first call creates the shared memory.
  //
  // In      `parts` must be for this placement() and buffer.size() elements, and live until wait()
  //         returns.
  // wire    Form of the numbers in messages between machines.
  // Errors  SystemError at once, on all ranks, if shared memory cannot be created.
  virtual Pending start(std::span<float> buffer, const HierarchicalParts& parts, Wire wire) = 0;

  Pending start_all_reduce(std::span<float> buffer, const HierarchicalParts& parts,
                           Wire wire = Wire::kF32) {
    return start(buffer, parts, wire);
  }

  // Creates the shared memory for all-reduces by HierarchicalParts. Returns whether it exists, the
  // same on all ranks.
  virtual bool can_share_memory() = 0;

  // Starts an all-to-all (each rank sends another part of its data to each rank): part r of `out`
  // goes to rank r; part r of `in` comes from it.
  //
  // In          size() + 1 ascending offsets in bytes, multiples of 4. Parts may be empty. The
  //             buffers must not overlap.
  // Own part    Is copied before this returns.
  // Messages    Of options.segment_elements of 4 bytes (at most 1 GiB), several at once;
  //             kExchangeOptions of schedule/all_to_all.h is a good choice.
  // Concurrent  Any number may be running.
  // Priority    All-reduces come first: while one is running on this rank and progressing, no
  //             further message starts here. An all-reduce that only waits for a rank that has not
  //             started it blocks nothing, because that rank may be waiting for this all-to-all.
  // Errors      Error at once: invalid arguments. SystemError from wait(), before anything is sent:
  //             ranks disagree on the size of a part or on segments. This, and any other failure of
  //             a message, ends all running operations.
  virtual Pending start_all_to_all(std::span<const std::byte> out,
                                   std::span<const std::size_t> out_offsets,
                                   std::span<std::byte> in, std::span<const std::size_t> in_offsets,
                                   const ScheduleOptions& options) = 0;

  // Adds checksums to the messages of start() and start_all_to_all(), from the next operation on.
  // If a message arrives damaged, wait() throws SystemError naming its two ranks. Must be the same
  // on all ranks; off by default.
  virtual void use_checksums(bool use) = 0;

  // Collectives for small control data, not for gradients. They block, except start_sum().
  virtual void all_reduce(std::span<double> buffer) = 0;         // sum
  virtual void all_reduce(std::span<std::uint64_t> buffer) = 0;  // sum modulo 2^64
  virtual void broadcast(std::span<std::byte> buffer, int root) = 0;
  virtual void barrier() = 0;
  // As all_reduce() of doubles, but returns without waiting for other ranks: the buffer holds the
  // sum when wait() returns. Any number may be running. The default blocks.
  virtual Pending start_sum(std::span<double> buffer) {
    all_reduce(buffer);
    return {};
  }
  // Blocking collectives by the MPI library's own algorithms, for less than 2^31 elements or bytes:
  // a reference for tests and measurements. library_all_reduce() blocks the progress engine, so no
  // other operation may be running.
  virtual void library_all_reduce(const Elements& buffer) = 0;  // sum; Error for bf16 or f16
  virtual void all_to_all(std::span<const std::byte> out, std::span<const std::size_t> out_offsets,
                          std::span<std::byte> in, std::span<const std::size_t> in_offsets) = 0;

  // Starts a non-blocking barrier. The future is ready when every rank has called this; its value
  // is the time at which this rank learned it.
  using Arrival = std::shared_future<std::chrono::steady_clock::time_point>;
  virtual Arrival start_barrier() = 0;
  // Seconds spent so far on the additions of all-reduces.
  virtual double adding_seconds() const noexcept = 0;

  // Ends all ranks at once, with this exit code. Called by main after an error on one rank.
  [[noreturn]] virtual void abort(int exit_code) noexcept = 0;
};

// Rank 0 of 1.
std::unique_ptr<Communicator> make_single();

// Returns the value or text that rank `root` passes, on every rank; those of other ranks are
// ignored.
template <std::integral T>
T broadcast(Communicator& comm, T value, int root) {
  comm.broadcast(std::as_writable_bytes(std::span(&value, 1)), root);
  return value;
}
std::string broadcast(Communicator& comm, std::string text, int root);
std::string broadcast_text(Communicator& comm, const std::string& text);  // from rank 0

// Returns on every rank the rows that all ranks pass, in order of ranks. Rows must have equal
// lengths.
std::vector<std::uint64_t> all_gather(Communicator& comm, std::span<const std::uint64_t> row);
// Returns on every rank the texts that all ranks pass, in order of ranks; lengths may differ. Each
// text takes as much memory as the longest one.
std::vector<std::string> all_gather(Communicator& comm, const std::string& text);

}  // namespace winnow::comm
