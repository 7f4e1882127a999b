#include "train/trace/traced_communicator.h"

#include <future>
#include <memory>
#include <utility>

namespace winnow::train {

comm::Pending TracedCommunicator::watch(comm::Pending pending, TraceSpan span) {
  std::shared_future<void> over =
      std::async(std::launch::async, [&recorder = recorder_, span = std::move(span),
                                      begun = std::make_shared<comm::Pending>(
                                          std::move(pending))]() mutable {
        begun->wait();
        recorder.end_collective(std::move(span));
      }).share();
  return comm::Pending([over = std::move(over)] { over.get(); });
}

comm::Pending TracedCommunicator::start(const comm::Collective& what,
                                        std::span<const comm::Transfer> transfers) {
  if (!recorder_.is_on()) return of_.start(what, transfers);
  TraceSpan span =
      recorder_.begin_collective(TraceSpan::Row::kCommunication, what.buffer.bytes.size());
  if (what.task == comm::Task::kHandOver) span.name = "micro-batch from stage to stage";
  return watch(of_.start(what, transfers), std::move(span));
}

comm::Pending TracedCommunicator::start(std::span<float> buffer,
                                        const comm::HierarchicalParts& parts, comm::Wire wire) {
  if (!recorder_.is_on()) return of_.start(buffer, parts, wire);
  TraceSpan span = recorder_.begin_collective(TraceSpan::Row::kCommunication, buffer.size_bytes());
  return watch(of_.start(buffer, parts, wire), std::move(span));
}

comm::Pending TracedCommunicator::start_all_to_all(std::span<const std::byte> out,
                                                   std::span<const std::size_t> out_offsets,
                                                   std::span<std::byte> in,
                                                   std::span<const std::size_t> in_offsets,
                                                   const comm::ScheduleOptions& options) {
  if (!recorder_.is_on()) return of_.start_all_to_all(out, out_offsets, in, in_offsets, options);
  TraceSpan span =
      recorder_.begin_collective(TraceSpan::Row::kDataExchange, out.size() + in.size());
  return watch(of_.start_all_to_all(out, out_offsets, in, in_offsets, options), std::move(span));
}

}  // namespace winnow::train
