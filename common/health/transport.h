#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "common/bytes.h"

namespace winnow::health {

// An address of a machine with a port, as the transport has it.
using Address = std::uint64_t;

// What a transport has heard.
struct Heard {
  enum class Kind : std::uint8_t {
    kMessage,   // from anybody: `bytes`, from `from`
    kRefused,   // the machine of `rank` says that nobody takes messages there any more
    kAnswered,  // the machine of `rank` is there
  };
  Kind kind = Kind::kMessage;
  int rank = -1;
  Address from = 0;
  Bytes bytes{};
};

// Carries small messages between the ranks of a job, beside MPI. A message may be lost, come twice,
// or come from somebody else; to send never blocks and never fails.
//
// Threads  one, but wake() is for any
class Transport {
 public:
  virtual ~Transport() = default;
  // `everywhere`: to all addresses of the rank, not only to where it was heard last.
  virtual void send(int rank, BytesView message, bool everywhere) noexcept = 0;
  // Asks the machine of a rank whether it is there, whatever the rank's process does. False: the
  // question could not be sent, so that no answer means nothing.
  virtual bool probe(int rank) noexcept = 0;
  // What came; waits for something that long at most.
  virtual std::vector<Heard> receive(std::chrono::milliseconds patience) = 0;
  // Messages from `from` are the rank's: what is sent to it goes there.
  virtual void confirm(int rank, Address from) noexcept = 0;
  // Lets receive() return.
  virtual void wake() noexcept = 0;
};

}  // namespace winnow::health
