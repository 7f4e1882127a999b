#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/comm/communicator.h"

namespace winnow::comm {

bool mpi_built() noexcept;

// "Open MPI v4.1.4"; empty where this build has no MPI. At any time.
std::string mpi_library();

// Whether this process was started by mpirun, srun or another PMI launcher as one of several ranks
// (reads the environment only).
bool launched_by_mpi() noexcept;

// Called with the reason before the engine ends all ranks by itself, with exit code 1.
using LastWords = std::function<void(const std::string& why)>;

// Initialises MPI (MPI_THREAD_SERIALIZED) and starts the progress engine, a thread that makes all
// MPI calls from then on. One per process.
//
// Destruction  on the same thread; finalises. Not while an exception passes through, nor after an
//              error of MPI: other ranks may wait for this one, and the launcher ends them when it
//              ends without finalising
// Failure      every operation in flight throws, once its receives are over. When a peer has begun
//              to write into a buffer and does not finish, all ranks are ended: `last_words` is
//              told why, on the engine's thread
// Throws       SystemError. Error: this build has no MPI
std::unique_ptr<Communicator> make_mpi(LastWords last_words = {});

}  // namespace winnow::comm
