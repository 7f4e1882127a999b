#pragma once

#include "common/comm/communicator.h"
#include "common/comm/schedule/clock.h"

namespace winnow::comm {

// Measures the network of this job with a short exchange. The same result on all ranks. Collective;
// at least 2 ranks.
//
// Inside   All ranks of a machine send to the next one at once. With one rank each: as between.
// Between  One rank of each machine sends to the next machine. With one machine: as inside.
// Cards    Assumes one a machine.
// Longest  Message: 512 KiB if messages of 2 MiB take 1.25 times as long per byte; else any.
// Cost     65 MB in each direction and port, and 250 latencies.
// Errors   SystemError.
NetworkModel probe_network(Communicator& comm);

}  // namespace winnow::comm
