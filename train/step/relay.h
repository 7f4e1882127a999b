#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/comm/communicator.h"
#include "train/backend/backend.h"
#include "train/plan/execution.h"

namespace winnow::train {

// Returns the number of the group of two ranks, of `ranks`, between which values are handed over.
std::uint32_t group_of_link(int from, int to, int ranks);

// Sends values from the ranks of one pipeline stage to those of the next, one micro-batch at a
// time. A stage's program reads such a value as its input "pixels", and writes one as its output of
// kind kValue. Without a pipeline it does nothing.
//
// Ahead    A stage may be in a later step than the one behind it, which receives values of its next
//          step while it computes on those of the current one. A send waits for its receive, so no
//          stage gets further ahead.
// Threads  begin() is called between steps, all else by any lane. Tasks that send or expect run one
//          at a time.
class Relay {
 public:
  // `programs`: one for each lane (program replica). They, `execution` and `comm` must outlive this
  // object.
  Relay(const std::vector<std::unique_ptr<Program>>& programs, const Execution& execution,
        comm::Communicator& comm);

  // Begins a step: starts its receives, except those that the step before has started. Once a step,
  // however often it is computed. `goes_on`: another step will follow.
  void begin(bool goes_on);

  // Performs a task kReceive; kSend, once a step; or kExpect, which starts receives of the next
  // step if there is one. Throws SystemError.
  void perform(const Task& task);

  // Waits for the values of a micro-batch of this rank. They are valid until the next step begins.
  // Empty: it receives none. Throws SystemError.
  std::span<float> receive(int micro_batch);

 private:
  struct Message {
    std::vector<comm::Transfer> transfers;
    comm::Pending pending{};  // a send's
    std::uint32_t group = 0;
    bool sent = false;
  };
  struct Lane {
    Program& program;
    std::vector<float> made;        // output of the lane's program
    std::vector<float> on_its_way;  // copy of the values that is being sent
    Message* last = nullptr;
  };

  // The values that this rank receives in a step.
  struct Arrivals {
    std::vector<float> values;           // [micro-batch, element]
    std::vector<comm::Pending> pending;  // [micro-batch]; waits when it is destroyed
    std::size_t started = 0;             // receives that have started, in the order of hand-overs
  };

  comm::Pending start(std::span<float> buffer, const Message& message);
  void send(int lane, int micro_batch);
  void start_receives(Arrivals& into, std::size_t end);
  std::span<float> values_of(Arrivals& arrivals, std::size_t micro_batch) const;

  const Execution& execution_;
  comm::Communicator& comm_;
  std::vector<Lane> lanes_;        // declared before the messages, which read it
  std::vector<Message> receives_;  // [micro-batch]
  std::vector<Message> sends_;
  std::array<Arrivals, 2> arrivals_;  // the current step's and the next one's
  std::size_t current_ = 1;
  bool goes_on_ = false;
};

}  // namespace winnow::train
