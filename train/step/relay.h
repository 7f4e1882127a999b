#pragma once

#include <memory>
#include <span>
#include <vector>

#include "common/comm/communicator.h"
#include "train/backend/backend.h"
#include "train/plan/execution.h"

namespace winnow::train {

// Sends values from the ranks of one stage of a net to those of the next, one micro-batch at a
// time. A stage's program reads such a value as its input "pixels", and writes one as its output of
// kind kValue. Does nothing without a pipeline.
//
// Threads  begin() is called between steps, all else by any lane
class Relay {
 public:
  // `programs`: one for each lane. They, `execution` and `comm` must outlive this.
  Relay(const std::vector<std::unique_ptr<Program>>& programs, const Execution& execution,
        comm::Communicator& comm);

  // Begins a step: starts its receives. Once a step, however often it is computed.
  void begin();

  // Waits for the values of a micro-batch of this rank. They are valid until the next step. Empty:
  // it receives none. Throws SystemError.
  std::span<float> receive(int micro_batch);

  // Waits for the values of the micro-batch that the program of `lane` computes, and starts to send
  // them: once a step. The lane's next send waits until they are sent.
  void send(int lane, int micro_batch);

 private:
  struct Message {
    std::vector<comm::Transfer> transfers;
    comm::Pending pending;
    std::uint32_t group = 0;
    bool sent = false;
  };
  struct Lane {
    Program& program;
    std::vector<float> made;        // output of its program
    std::vector<float> on_its_way;  // the copy that is being sent
    Message* last = nullptr;
  };

  comm::Pending start(std::span<float> buffer, const Message& message);
  std::span<float> came(std::size_t micro_batch);

  const Execution& execution_;
  comm::Communicator& comm_;
  std::vector<Lane> lanes_;        // declared before the messages, which read and write it
  std::vector<float> came_;        // received values of all micro-batches
  std::vector<Message> receives_;  // [micro-batch]
  std::vector<Message> sends_;
};

}  // namespace winnow::train
