#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace winnow::comm {

// What a rank of a NodeGroup has finished since the group was made.
struct NodeProgress {
  std::uint64_t reduce_scatters = 0;
  std::uint64_t all_gathers = 0;
  bool moved = false;  // the last advance() did something
};

// The ranks of one machine that reduce among themselves, without messages: processes over memory
// that they share, threads, or cards.
//
// Shares    offsets in elements, ascending, one more than there are ranks: part r of a buffer is
//           [shares[r], shares[r + 1]) and belongs to rank r. Parts may be unequal or empty
// Order     every rank starts the same operations of a kind, with the same shares, in the same
//           order; the two kinds do not wait for each other. Those of a kind are finished in order
// Buffers   belong to the group until the operation is finished, or this rank has left. Only this
//           rank's calls touch them
// Same bits the order of additions does not depend on timing: in memory a part is its own rank's
//           term plus those of the other ranks in ascending order
// Threads   one at a time
class NodeGroup {
 public:
  virtual ~NodeGroup() = default;  // tells nobody: a process that ends is the launcher's to tell
  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;

  // This rank's part of the buffer = its sum over ranks; the other parts are not defined then.
  virtual void start_reduce_scatter(std::span<float> buffer,
                                    std::span<const std::size_t> shares) = 0;

  // Every other rank's part of the buffer = what that rank has in it.
  virtual void start_all_gather(std::span<float> buffer, std::span<const std::size_t> shares) = 0;

  // Moves data as far as that goes without waiting for another rank.
  //
  // Throws  SystemError: a rank that is waited for has left, or has another buffer
  virtual NodeProgress advance() = 0;

  // This rank does nothing any more; those that wait for it throw. What is unfinished is forgotten.
  virtual void leave() noexcept = 0;
};

}  // namespace winnow::comm
