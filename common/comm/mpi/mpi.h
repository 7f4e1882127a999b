#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/comm/communicator.h"

namespace winnow::comm {

bool mpi_built() noexcept;

// "Open MPI v4.1.4"; empty if this build has no MPI, or opens it and finds none. Callable at any
// time.
std::string mpi_library();
// Whether that library is in this process: linked, or opened for ranks.
bool mpi_is_open() noexcept;

// Whether this process was started by mpirun, srun or another PMI launcher as one of several ranks
// (reads only the environment).
bool launched_by_mpi() noexcept;

// Called with the reason before the engine ends all ranks by itself, with exit code 1.
using LastWords = std::function<void(const std::string& why)>;

// Texts that processes of a job exchange over the launcher, before messages can pass. They tell a
// rank that waits for MPI to connect about the other machines.
struct Introductions {
  std::string own;  // text of this process, below 1,024 bytes; empty: it neither publishes nor asks
  double after_s = 0;  // seconds before it asks; 0: never
  // Takes the texts of at most the next 16 others that have one. Called once, on the thread of
  // make_mpi().
  std::function<void(const std::vector<std::string>& others)> take{};
};

// Initialises MPI (MPI_THREAD_SERIALIZED) and starts the progress engine, a thread that makes all
// MPI calls from then on. One per process.
//
// Destruction  On the same thread; finalises MPI. Not during stack unwinding, nor after an MPI
//              error: other ranks may wait for this one, and the launcher ends them when it ends
//              without finalising.
// Failure      Every operation in flight throws, after its receives have ended. If a peer has begun
//              to write into a buffer and does not finish, all ranks are ended; `last_words` gets
//              the reason, on the engine's thread.
// Throws       SystemError: MPI; this build opens MPI and finds none. Error: this build has no MPI.
std::unique_ptr<Communicator> make_mpi(LastWords last_words = {},
                                       const Introductions& introductions = {});

}  // namespace winnow::comm
