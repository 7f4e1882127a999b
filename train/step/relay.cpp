#include "train/step/relay.h"

#include <algorithm>
#include <cstdint>

namespace winnow::train {
namespace {

// Behind the numbers of stages.
std::uint32_t group_of_link(int from, int to, int ranks) {
  return static_cast<std::uint32_t>(ranks + 1 + from * ranks + to);
}

}  // namespace

Relay::Relay(const std::vector<std::unique_ptr<Program>>& programs, const Execution& execution,
             comm::Communicator& comm)
    : execution_(execution),
      comm_(comm),
      came_(execution.handed.in * execution.hand_overs.receives.size()),
      receives_(execution.hand_overs.receives.size()),
      sends_(execution.hand_overs.sends.size()) {
  const int me = comm.rank();
  const HandedValues& handed = execution.handed;
  for (const HandOver& over : execution.hand_overs.receives) {
    Message& message = receives_[static_cast<std::size_t>(over.micro_batch)];
    message.transfers = {{comm::Transfer::Kind::kReceiveCopy, over.peer, 0, 0, 0, handed.in}};
    message.group = group_of_link(over.peer, me, comm.size());
  }
  for (const HandOver& over : execution.hand_overs.sends) {
    Message& message = sends_[static_cast<std::size_t>(over.micro_batch)];
    message.transfers = {{comm::Transfer::Kind::kSend, over.peer, 0, 0, 0, handed.out}};
    message.group = group_of_link(me, over.peer, comm.size());
  }
  if (sends_.empty()) return;
  const Graph& graph = programs.front()->graph();
  const auto border = std::ranges::find(graph.outputs, OutputKind::kValue, &Output::kind);
  lanes_.reserve(programs.size());
  for (const std::unique_ptr<Program>& program : programs) {
    Lane& lane = lanes_.emplace_back(
        Lane{*program, std::vector<float>(handed.out), std::vector<float>(handed.out)});
    program->bind(border->value, std::span(lane.made));
  }
}

comm::Pending Relay::start(std::span<float> buffer, const Message& message) {
  return comm_.start({.buffer = buffer,
                      .wire = execution_.handed.wire,
                      .task = comm::Task::kHandOver,
                      .group = message.group},
                     message.transfers);
}

std::span<float> Relay::came(std::size_t micro_batch) {
  const std::size_t elements = execution_.handed.in;
  return std::span(came_).subspan(micro_batch * elements, elements);
}

void Relay::begin() {
  for (Message& message : sends_) message.sent = false;
  for (const HandOver& over : execution_.hand_overs.receives) {
    const auto m = static_cast<std::size_t>(over.micro_batch);
    receives_[m].pending = start(came(m), receives_[m]);
  }
}

std::span<float> Relay::receive(int micro_batch) {
  if (receives_.empty()) return {};
  const auto m = static_cast<std::size_t>(micro_batch);
  receives_[m].pending.wait();
  return came(m);
}

void Relay::send(int lane, int micro_batch) {
  Message& message = sends_[static_cast<std::size_t>(micro_batch)];
  if (message.sent) return;  // a step that is computed again has the same values
  Lane& from = lanes_[static_cast<std::size_t>(lane)];
  from.program.wait(execution_.handed.made_after);
  if (from.last != nullptr) from.last->pending.wait();
  std::ranges::copy(from.made, from.on_its_way.begin());
  message.pending = start(from.on_its_way, message);
  message.sent = true;
  from.last = &message;
}

}  // namespace winnow::train
