#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "common/bytes.h"

namespace winnow::health {

// A machine's address with a port, as encoded by the transport.
using Address = std::uint64_t;

// Something that a transport received.
struct Heard {
  enum class Kind : std::uint8_t {
    kMessage,   // `bytes` from `from`, which may be anyone
    kRefused,   // the machine of `rank` reports that its port is closed
    kAnswered,  // the machine of `rank` is alive
  };
  Kind kind = Kind::kMessage;
  int rank = -1;
  Address from = 0;
  Bytes bytes{};
};

// Carries small messages between the ranks of a job, independently of MPI. A message may be lost,
// duplicated, or come from someone else. Sending never blocks and never fails.
//
// Threads  One; wake() may be called from any.
class Transport {
 public:
  virtual ~Transport() = default;
  // everywhere  To all addresses of the rank, not only to the one it was last heard from.
  virtual void send(int rank, BytesView message, bool everywhere) noexcept = 0;
  // Queries the machine of a rank, whatever its process does. False: the query could not be sent,
  // so a missing answer means nothing.
  virtual bool probe(int rank) noexcept = 0;
  // Returns what has arrived; waits at most `patience` for something.
  virtual std::vector<Heard> receive(std::chrono::milliseconds patience) = 0;
  // Confirms that messages from `from` are from this rank: send() uses that address.
  virtual void confirm(int rank, Address from) noexcept = 0;
  // Makes receive() return.
  virtual void wake() noexcept = 0;
};

}  // namespace winnow::health
