#include <mpi.h>

#include <string>

#include "common/comm/mpi/check_mpi_internal.h"
#include "common/error.h"

namespace winnow::comm {

void check_mpi(int rc, const char* call, int peer) {
  if (rc == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(rc, text, &length);
  std::string message = call;
  if (peer >= 0) message += " (rank " + std::to_string(peer) + ")";
  throw SystemError(message + " failed: " + text);
}

}  // namespace winnow::comm
