#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "common/comm/node/node_group.h"
#include "common/comm/node/rings_internal.h"

namespace winnow::comm {

// A NodeGroup over shared memory. Data pass through ring buffers. Reduce-scatter: each rank writes
// the parts of the other ranks into its rings to them, and sums its own part. All-gather: each rank
// writes its part into its ring to all.
//
// No deadlock  Every rank works on the oldest unfinished operation of each kind and never waits
//              inside it. It reads whatever is there, so full rings are emptied.
class RingGroup final : public NodeGroup {
 public:
  // memory  Memory laid out as RingMemory of `shape`, mapped by all ranks.
  RingGroup(int rank, const RingShape& shape, std::shared_ptr<std::byte> memory);
  RingGroup(const RingGroup&) = delete;
  RingGroup& operator=(const RingGroup&) = delete;

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return memory_.shape().ranks; }
  void start_reduce_scatter(std::span<float> buffer, std::span<const std::size_t> shares) override;
  void start_all_gather(std::span<float> buffer, std::span<const std::size_t> shares) override;
  NodeProgress advance() override;
  void leave() noexcept override;

 private:
  struct Operation {
    std::span<float> buffer;
    std::vector<std::size_t> shares;
    std::vector<std::size_t> done;  // for each part, the number of elements written or read
  };

  Operation make_operation(std::span<float> buffer, std::span<const std::size_t> shares) const;
  std::span<float> next_piece(Operation& operation, int part) const;
  bool is_finished(const Operation& operation) const;
  bool reduce_scatter(Operation& operation);
  bool add_up(Operation& operation);
  bool all_gather(Operation& operation);
  void expect_reader(const Ring& ring, std::size_t reader, int to) const;
  std::span<const float> expect(const Ring& ring, std::size_t reader, int from,
                                std::size_t count) const;

  const std::shared_ptr<std::byte> owned_;
  const RingMemory memory_;
  const int rank_;
  std::deque<Operation> scatters_;
  std::deque<Operation> gathers_;
  NodeProgress progress_;
};

}  // namespace winnow::comm
