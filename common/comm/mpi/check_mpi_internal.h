#pragma once

namespace winnow::comm {

// Throws SystemError "MPI_Isend (rank 3) failed: ..." unless `rc` is MPI_SUCCESS. `peer` < 0: none.
void check_mpi(int rc, const char* call, int peer = -1);

}  // namespace winnow::comm
