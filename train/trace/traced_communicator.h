#pragma once

#include "common/comm/communicator.h"
#include "train/step/trace_recorder.h"

namespace winnow::train {

// A communicator that, in traced steps, writes down when collectives of gradients and exchanges of
// data begin and end. A thread of its own waits for each, so that an end is known when it comes and
// not when the step asks for it. All else is that of the communicator that it is made of. Both it
// and the recorder outlive this, and what this begins.
class TracedCommunicator final : public comm::Communicator {
 public:
  TracedCommunicator(comm::Communicator& of, TraceRecorder& recorder)
      : of_(of), recorder_(recorder) {}

  int rank() const noexcept override { return of_.rank(); }
  int size() const noexcept override { return of_.size(); }
  int local_rank() const noexcept override { return of_.local_rank(); }
  int local_size() const noexcept override { return of_.local_size(); }
  const comm::Placement& placement() const noexcept override { return of_.placement(); }

  comm::Pending start(const comm::Collective& what,
                      std::span<const comm::Transfer> transfers) override;
  comm::Pending start(std::span<float> buffer, const comm::HierarchicalParts& parts,
                      comm::Wire wire) override;
  bool can_share_memory() override { return of_.can_share_memory(); }
  comm::Pending start_all_to_all(std::span<const std::byte> out,
                                 std::span<const std::size_t> out_offsets, std::span<std::byte> in,
                                 std::span<const std::size_t> in_offsets,
                                 const comm::ScheduleOptions& options) override;
  void use_checksums(bool use) override { of_.use_checksums(use); }

  void all_reduce(std::span<double> buffer) override { of_.all_reduce(buffer); }
  void all_reduce(std::span<std::uint64_t> buffer) override { of_.all_reduce(buffer); }
  void broadcast(std::span<std::byte> buffer, int root) override { of_.broadcast(buffer, root); }
  void barrier() override { of_.barrier(); }
  void library_all_reduce(const comm::Elements& buffer) override { of_.library_all_reduce(buffer); }
  void all_to_all(std::span<const std::byte> out, std::span<const std::size_t> out_offsets,
                  std::span<std::byte> in, std::span<const std::size_t> in_offsets) override {
    of_.all_to_all(out, out_offsets, in, in_offsets);
  }
  Arrival start_barrier() override { return of_.start_barrier(); }
  double adding_seconds() const noexcept override { return of_.adding_seconds(); }
  [[noreturn]] void abort(int exit_code) noexcept override;

 private:
  comm::Pending watch(comm::Pending pending, TraceSpan span);

  comm::Communicator& of_;
  TraceRecorder& recorder_;
};

}  // namespace winnow::train
