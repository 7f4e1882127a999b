#pragma once

#include "common/comm/communicator.h"
#include "common/comm/schedule/clock.h"

namespace winnow::comm {

// What the network of this job costs, by a short exchange; the same on all ranks.
//
// Inside   machines all ranks send at once, each to the next one; with one rank each as between
// Between  machines one rank of each sends, to the next machine; with one machine as inside
// Cards    one a machine
// Longest  message: 512 KiB where those of 2 MiB take 1.25 times as long a byte, else any
// Takes    65 MB each way and port, and 250 latencies
// Ranks    collective; at least 2. Throws SystemError
NetworkModel probe_network(Communicator& comm);

}  // namespace winnow::comm
