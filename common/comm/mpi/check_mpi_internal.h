#pragma once

namespace winnow::comm {

// Throws SystemError "MPI_Isend (rank 3) failed: ..." unless `rc` is MPI_SUCCESS. `peer` below 0:
// no rank is named.
void check_mpi(int rc, const char* call, int peer = -1);

}  // namespace winnow::comm
