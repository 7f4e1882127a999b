#include "train/step/relay.h"

#include <algorithm>
#include <cstdint>

#include "common/comm/schedule/transfer.h"

namespace winnow::train {
namespace {

// Receives that are started ahead of their step. The rest of the chains that a rank has under way
// at once is for sums and sends, which must not wait for another stage's next step.
constexpr std::size_t kMostAhead = comm::kChainsAtOnce / 2;

}  // namespace

// Behind the numbers of stages.
std::uint32_t group_of_link(int from, int to, int ranks) {
  return static_cast<std::uint32_t>(ranks + 1 + from * ranks + to);
}

Relay::Relay(const std::vector<std::unique_ptr<Program>>& programs, const Execution& execution,
             comm::Communicator& comm)
    : execution_(execution),
      comm_(comm),
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
  for (Arrivals& arrivals : arrivals_) {
    arrivals.values.resize(handed.in * receives_.size());
    arrivals.pending.resize(receives_.size());
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

std::span<float> Relay::values_of(Arrivals& arrivals, std::size_t micro_batch) const {
  const std::size_t elements = execution_.handed.in;
  return std::span(arrivals.values).subspan(micro_batch * elements, elements);
}

void Relay::start_receives(Arrivals& into, std::size_t end) {
  for (; into.started < end; ++into.started) {
    const int micro_batch = execution_.hand_overs.receives[into.started].micro_batch;
    const auto m = static_cast<std::size_t>(micro_batch);
    into.pending[m] = start(values_of(into, m), receives_[m]);
  }
}

void Relay::begin(bool goes_on) {
  goes_on_ = goes_on;
  for (Message& message : sends_) message.sent = false;
  arrivals_[current_].started = 0;
  current_ = 1 - current_;
  start_receives(arrivals_[current_], receives_.size());
}

void Relay::perform(const Task& task) {
  if (task.kind == Task::Kind::kReceive) receive(task.micro_batch);
  if (task.kind == Task::Kind::kSend) send(task.lane, task.micro_batch);
  if (task.kind == Task::Kind::kExpect && goes_on_) {
    start_receives(arrivals_[1 - current_], std::min(kMostAhead, receives_.size()));
  }
}

std::span<float> Relay::receive(int micro_batch) {
  if (receives_.empty()) return {};
  const auto m = static_cast<std::size_t>(micro_batch);
  Arrivals& arrivals = arrivals_[current_];
  arrivals.pending[m].wait();
  return values_of(arrivals, m);
}

// Waits for the values of the micro-batch that the program of `lane` computes, and starts to send
// them. The lane's next send waits until they are sent.
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
