#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/comm/communicator.h"

namespace winnow::comm {

bool mpi_built() noexcept;

// Name and version of the MPI library, such as "Open MPI v4.1.4". Empty if this build has no MPI,
// or loads it at run time and finds none. May be called at any time.
std::string mpi_library();
// Whether the MPI library is loaded in this process: linked, or opened because there are several
// ranks.
bool mpi_is_open() noexcept;

// Whether mpirun, srun or another PMI launcher started this process as one of several ranks. Only
// reads the environment.
bool launched_by_mpi() noexcept;

// Called with the reason before the progress engine ends all ranks, with exit code 1.
using LastWords = std::function<void(const std::string& why)>;

// Short texts that the processes of a job exchange through the launcher, before MPI messages are
// possible. By them, a rank that waits for MPI to connect can tell the user about the other
// machines.
struct Introductions {
  std::string own;     // text of this process, below 1,024 bytes; empty: no exchange
  double after_s = 0;  // seconds of waiting before others' texts are read; 0: never
  // Receives the texts of at most the next 16 other processes that have one. Called once, on the
  // thread that calls make_mpi().
  std::function<void(const std::vector<std::string>& others)> take{};
};

// Initialises MPI (MPI_THREAD_SERIALIZED) and starts the progress engine, a thread that makes all
// MPI calls from then on. At most one per process.
//
// Destruction  Finalises MPI; on the thread that called this. MPI is not finalised during stack
//              unwinding, nor after an MPI error: other ranks may wait for this one, and the
//              launcher ends them when this one ends without finalising.
// Failure      Every running operation throws, after its receives have ended. If a peer has begun
//              to write into a buffer and does not finish, all ranks are ended; `last_words` gets
//              the reason, on the engine's thread.
// Errors       SystemError: MPI failed, or this build loads MPI at run time and finds none. Error:
//              this build has no MPI.
std::unique_ptr<Communicator> make_mpi(LastWords last_words = {},
                                       const Introductions& introductions = {});

}  // namespace winnow::comm
