#pragma once

#include "common/comm/forwarding_communicator.h"
#include "train/step/trace_recorder.h"

namespace winnow::train {

// A communicator that records, in traced steps, when collectives of gradients and exchanges of
// training data begin and end. Everything else is forwarded to the wrapped communicator.
// Threads   A separate thread waits for each collective, so that its true end is recorded, not the
//           time when the step asks for it.
// Lifetime  The wrapped communicator and the recorder must outlive this object and all operations
//           it starts.
class TracedCommunicator final : public comm::ForwardingCommunicator {
 public:
  TracedCommunicator(comm::Communicator& of, TraceRecorder& recorder)
      : ForwardingCommunicator(of), recorder_(recorder) {}

  comm::Pending start(const comm::Collective& what,
                      std::span<const comm::Transfer> transfers) override;
  comm::Pending start(std::span<float> buffer, const comm::HierarchicalParts& parts,
                      comm::Wire wire) override;
  comm::Pending start_all_to_all(std::span<const std::byte> out,
                                 std::span<const std::size_t> out_offsets, std::span<std::byte> in,
                                 std::span<const std::size_t> in_offsets,
                                 const comm::ScheduleOptions& options) override;

 private:
  comm::Pending watch(comm::Pending pending, TraceSpan span);

  TraceRecorder& recorder_;
};

}  // namespace winnow::train
