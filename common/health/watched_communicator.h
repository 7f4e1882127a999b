#pragma once

#include "common/comm/forwarding_communicator.h"
#include "common/health/board.h"

namespace winnow::health {

// A communicator that records on a Board which collectives start, and when this rank waits for one.
// Forwards everything to another communicator. Both must outlive this one and its operations.
class WatchedCommunicator final : public comm::ForwardingCommunicator {
 public:
  WatchedCommunicator(comm::Communicator& of, Board& board)
      : ForwardingCommunicator(of), board_(board) {}

  comm::Pending start(const comm::Collective& what,
                      std::span<const comm::Transfer> transfers) override;
  comm::Pending start(std::span<float> buffer, const comm::HierarchicalParts& parts,
                      comm::Wire wire) override;
  bool can_share_memory() override;
  comm::Pending start_all_to_all(std::span<const std::byte> out,
                                 std::span<const std::size_t> out_offsets, std::span<std::byte> in,
                                 std::span<const std::size_t> in_offsets,
                                 const comm::ScheduleOptions& options) override;

  void all_reduce(std::span<double> buffer) override;
  void all_reduce(std::span<std::uint64_t> buffer) override;
  void broadcast(std::span<std::byte> buffer, int root) override;
  void barrier() override;
  comm::Pending start_sum(std::span<double> buffer) override;
  void library_all_reduce(const comm::Elements& buffer) override;
  void all_to_all(std::span<const std::byte> out, std::span<const std::size_t> out_offsets,
                  std::span<std::byte> in, std::span<const std::size_t> in_offsets) override;
  Arrival start_barrier() override;

 private:
  comm::Pending watch(comm::Pending pending, Wait wait);

  Board& board_;
};

}  // namespace winnow::health
