#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "common/bytes.h"

namespace winnow::health {

// A machine's address and a port, in a form that only the transport knows.
using Address = std::uint64_t;

// An event that a transport received.
struct Heard {
  enum class Kind : std::uint8_t {
    kMessage,   // `bytes` arrived from the address `from`; anyone may have sent them
    kRefused,   // the machine of `rank` reports that the rank's port is closed
    kAnswered,  // the machine of `rank` answered a query
  };
  Kind kind = Kind::kMessage;
  int rank = -1;
  Address from = 0;
  Bytes bytes{};
};

// Carries small messages between the ranks of a job, independently of MPI. A message may be lost or
// duplicated, and may come from anyone. Sending never blocks and never fails.
//
// Threads  One; wake() may be called from any.
class Transport {
 public:
  virtual ~Transport() = default;
  // Sends a message to a rank.
  // everywhere  To all addresses of the rank, not only to the one it was last heard from.
  virtual void send(int rank, BytesView message, bool everywhere) noexcept = 0;
  // Queries whether the machine of a rank is alive, whatever its process does. False: the query
  // could not be sent, so a missing answer means nothing.
  virtual bool probe(int rank) noexcept = 0;
  // Returns the events that have arrived; waits at most `patience` for the first.
  virtual std::vector<Heard> receive(std::chrono::milliseconds patience) = 0;
  // Tells the transport that messages from `from` are from this rank: send() uses that address
  // then.
  virtual void confirm(int rank, Address from) noexcept = 0;
  // Makes receive() return.
  virtual void wake() noexcept = 0;
};

}  // namespace winnow::health
