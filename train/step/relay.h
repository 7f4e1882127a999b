#pragma once

#include <memory>
#include <span>
#include <vector>

#include "common/comm/communicator.h"
#include "train/backend/backend.h"
#include "train/plan/execution.h"

namespace winnow::train {

// Hands values from the ranks of one stage of a net to those of the next, a micro-batch at a time.
// A stage's program has such a value as its input "pixels" and as its output of kind kValue. Does
// nothing without a pipeline.
//
// Threads  begin() between steps; the others by any lane
class Relay {
 public:
  // `programs`: of each lane, and outlive this as `execution` and `comm` do.
  Relay(const std::vector<std::unique_ptr<Program>>& programs, const Execution& execution,
        comm::Communicator& comm);

  // A step begins: what it gets may come from now on. Once a step, however often it is computed.
  void begin();

  // What came for a micro-batch of this rank, until the next step; waits for it. Empty where none
  // comes. Throws SystemError.
  std::span<float> receive(int micro_batch);

  // What the program of `lane` made of the micro-batch is here and begins its way: once a step.
  // The lane's next one waits until it is gone.
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
    std::vector<float> made;        // by its program
    std::vector<float> on_its_way;  // a copy
    Message* last = nullptr;
  };

  comm::Pending start(std::span<float> buffer, const Message& message);
  std::span<float> came(std::size_t micro_batch);

  const Execution& execution_;
  comm::Communicator& comm_;
  std::vector<Lane> lanes_;        // before messages, which read and write it
  std::vector<float> came_;        // of all micro-batches
  std::vector<Message> receives_;  // [micro-batch]
  std::vector<Message> sends_;
};

}  // namespace winnow::train
