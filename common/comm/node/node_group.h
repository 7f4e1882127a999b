#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace winnow::comm {

// Numbers of operations that a rank of a NodeGroup has finished since the group was made.
struct NodeProgress {
  std::uint64_t reduce_scatters = 0;
  std::uint64_t all_gathers = 0;
  bool moved = false;  // whether the last advance() moved any data
};

// The ranks of one machine, which exchange data without messages: processes with shared memory,
// threads, or GPUs. Two kinds of operations: reduce-scatters and all-gathers.
//
// Shares     Offsets in elements, ascending, one more than there are ranks. Part r of a buffer is
//            [shares[r], shares[r + 1]) and belongs to rank r. Parts may be unequal or empty.
// Order      Every rank starts the same operations of a kind, with the same shares, in the same
//            order. The two kinds do not wait for each other. Operations of a kind finish in order.
// Buffers    Must not be used until the operation finishes or this rank has left. Only this rank's
//            calls access them.
// Same bits  The order of additions does not depend on timing. In memory, a part is its own rank's
//            term plus those of the other ranks in ascending order.
// Threads    One at a time.
class NodeGroup {
 public:
  // Destruction does not notify other ranks: the launcher handles a process that ends.
  virtual ~NodeGroup() = default;
  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;

  // Starts to sum this rank's part of the buffer over all ranks of the group. The other parts of
  // the buffer become undefined.
  virtual void start_reduce_scatter(std::span<float> buffer,
                                    std::span<const std::size_t> shares) = 0;

  // Starts to replace every other rank's part of the buffer by that rank's data.
  virtual void start_all_gather(std::span<float> buffer, std::span<const std::size_t> shares) = 0;

  // Moves the data of running operations as far as possible without waiting for another rank.
  //
  // Errors  SystemError: another rank has left, or passed other sizes.
  virtual NodeProgress advance() = 0;

  // Ends this rank's participation. Unfinished operations are dropped, and ranks that wait for this
  // one throw.
  virtual void leave() noexcept = 0;
};

}  // namespace winnow::comm
