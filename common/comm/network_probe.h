#pragma once

#include "common/comm/communicator.h"
#include "common/comm/schedule/clock.h"

namespace winnow::comm {

// Measures latency and bandwidth of this job's network with short exchanges. The same result on all
// ranks. Collective: called by all ranks, at least 2.
//
// inside           All ranks of a machine send to the next one at once. If machines have one rank
//                  each, the figures of `between` are taken.
// between          One rank of each machine sends to the next machine. With one machine, the
//                  figures of `inside` are taken.
// cards            Assumes one network card a machine.
// longest_message  512 KiB if messages of 2 MiB take 1.25 times as long per byte; else any.
// Cost             65 MB in each direction and port, and 250 latencies.
// Errors           SystemError.
NetworkModel probe_network(Communicator& comm);

}  // namespace winnow::comm
