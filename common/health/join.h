#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/comm/communicator.h"
#include "common/health/message.h"
#include "common/health/transport.h"

namespace winnow::health {

// The ranks of a job that hear each other.
struct Circle {
  std::vector<Member> members;
  JobSecret secret{};
  std::unique_ptr<Transport> transport;  // null: one rank, or this rank has no socket
  std::string why_not;                   // on rank 0: why ranks have no socket
};

// Opens this rank's ports, and exchanges addresses over `comm`. Collective. A rank that cannot open
// ports is not heard, but causes no failure.
Circle join(comm::Communicator& comm);

}  // namespace winnow::health
