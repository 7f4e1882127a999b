#pragma once

#include <memory>

#include "common/comm/communicator.h"

namespace winnow::comm {

bool mpi_built() noexcept;

// Whether this process was started by mpirun, srun or another PMI launcher as one of several ranks
// (reads the environment only).
bool launched_by_mpi() noexcept;

// Initialises MPI (MPI_THREAD_SERIALIZED) and starts the progress engine, a thread that makes all
// MPI calls from then on; destruction, on the same thread, finalises. (Not while an exception
// passes through, nor after an error of MPI: other ranks may wait for this one, and that it ends
// without finalising makes the launcher end them.) One per process. Throws SystemError, Error where
// this build has no MPI.
std::unique_ptr<Communicator> make_mpi();

}  // namespace winnow::comm
