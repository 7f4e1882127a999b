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
  std::unique_ptr<Transport> transport;  // null: one rank, or this one has no socket
  std::string why_not;                   // rank 0: why not, where ranks have none
};

// Opens this rank's ports, and tells the others over `comm` where it hears them. Collective. A rank
// that cannot open ports is heard by nobody, and fails nobody.
Circle join(comm::Communicator& comm);

}  // namespace winnow::health
