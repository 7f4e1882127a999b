#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/comm/communicator.h"

namespace winnow::comm {

bool mpi_built() noexcept;

// "Open MPI v4.1.4"; empty where this build has no MPI, or opens it and finds none. At any time.
std::string mpi_library();
// Whether that library is in this process: it is linked, or was opened for ranks.
bool mpi_is_open() noexcept;

// Whether this process was started by mpirun, srun or another PMI launcher as one of several ranks
// (reads the environment only).
bool launched_by_mpi() noexcept;

// Called with the reason before the engine ends all ranks by itself, with exit code 1.
using LastWords = std::function<void(const std::string& why)>;

// What processes of a job tell each other by the launcher, before any message can pass: who waits
// while MPI connects them learns what the others say of themselves.
struct Introductions {
  std::string own;     // of this process, of under 1,024 bytes; empty: it neither tells nor asks
  double after_s = 0;  // for so long ranks may be connected in silence; 0: for ever
  // Takes the texts of the next 16 others at most that gave one, once, on the thread of make_mpi().
  std::function<void(const std::vector<std::string>& others)> take{};
};

// Initialises MPI (MPI_THREAD_SERIALIZED) and starts the progress engine, a thread that makes all
// MPI calls from then on. One per process.
//
// Destruction  on the same thread; finalises. Not while an exception passes through, nor after an
//              error of MPI: other ranks may wait for this one, and the launcher ends them when it
//              ends without finalising
// Failure      every operation in flight throws, once its receives are over. When a peer has begun
//              to write into a buffer and does not finish, all ranks are ended: `last_words` is
//              told why, on the engine's thread
// Throws       SystemError: of MPI; this build opens MPI and finds none. Error: this build has no
// MPI
std::unique_ptr<Communicator> make_mpi(LastWords last_words = {},
                                       const Introductions& introductions = {});

}  // namespace winnow::comm
