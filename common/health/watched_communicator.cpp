#include "common/health/watched_communicator.h"

#include <memory>
#include <utility>

namespace winnow::health {

comm::Pending WatchedCommunicator::watch(comm::Pending pending, Wait wait) {
  return comm::Pending(
      [&board = board_, wait, begun = std::make_shared<comm::Pending>(std::move(pending))] {
        const Board::Waiting waiting(board, wait);
        begun->wait();
      });
}

comm::Pending WatchedCommunicator::start(const comm::Collective& what,
                                         std::span<const comm::Transfer> transfers) {
  if (what.group == 0) board_.begin_collective();  // all ranks count these alike
  return watch(of_.start(what, transfers), Wait::kGradients);
}

comm::Pending WatchedCommunicator::start(std::span<float> buffer,
                                         const comm::HierarchicalParts& parts, comm::Wire wire) {
  board_.begin_collective();
  return watch(of_.start(buffer, parts, wire), Wait::kGradients);
}

bool WatchedCommunicator::can_share_memory() {
  board_.begin_collective();
  const Board::Waiting waiting(board_, Wait::kOthers);
  return of_.can_share_memory();
}

comm::Pending WatchedCommunicator::start_all_to_all(std::span<const std::byte> out,
                                                    std::span<const std::size_t> out_offsets,
                                                    std::span<std::byte> in,
                                                    std::span<const std::size_t> in_offsets,
                                                    const comm::ScheduleOptions& options) {
  board_.begin_exchange();
  return watch(of_.start_all_to_all(out, out_offsets, in, in_offsets, options), Wait::kNone);
}

void WatchedCommunicator::all_reduce(std::span<double> buffer) {
  board_.begin_collective();
  const Board::Waiting waiting(board_, Wait::kOthers);
  of_.all_reduce(buffer);
}

void WatchedCommunicator::all_reduce(std::span<std::uint64_t> buffer) {
  board_.begin_collective();
  const Board::Waiting waiting(board_, Wait::kOthers);
  of_.all_reduce(buffer);
}

void WatchedCommunicator::broadcast(std::span<std::byte> buffer, int root) {
  board_.begin_collective();
  const Board::Waiting waiting(board_, Wait::kOthers);
  of_.broadcast(buffer, root);
}

void WatchedCommunicator::barrier() {
  board_.begin_collective();
  const Board::Waiting waiting(board_, Wait::kOthers);
  of_.barrier();
}

comm::Pending WatchedCommunicator::start_sum(std::span<double> buffer) {
  board_.begin_collective();
  return watch(of_.start_sum(buffer), Wait::kOthers);
}

void WatchedCommunicator::library_all_reduce(const comm::Elements& buffer) {
  board_.begin_collective();
  const Board::Waiting waiting(board_, Wait::kOthers);
  of_.library_all_reduce(buffer);
}

void WatchedCommunicator::all_to_all(std::span<const std::byte> out,
                                     std::span<const std::size_t> out_offsets,
                                     std::span<std::byte> in,
                                     std::span<const std::size_t> in_offsets) {
  board_.begin_collective();
  const Board::Waiting waiting(board_, Wait::kOthers);
  of_.all_to_all(out, out_offsets, in, in_offsets);
}

comm::Communicator::Arrival WatchedCommunicator::start_barrier() {
  board_.begin_collective();
  return of_.start_barrier();
}

}  // namespace winnow::health
