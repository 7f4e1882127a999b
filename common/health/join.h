#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/comm/communicator.h"
#include "common/health/message.h"
#include "common/health/transport.h"

namespace winnow::health {

// The ranks of a job that exchange heartbeats.
struct Circle {
  std::vector<Member> members;
  JobSecret secret{};
  std::unique_ptr<Transport> transport;  // nullptr: there is one rank, or this rank has no socket
  std::string why_not;                   // on rank 0: why some ranks have no socket
};

// Opens ports of this rank for heartbeats, and exchanges addresses over `comm`. Collective: called
// by all ranks. A rank that cannot open ports is not heard by others, but this is no error.
Circle join(comm::Communicator& comm);

}  // namespace winnow::health
