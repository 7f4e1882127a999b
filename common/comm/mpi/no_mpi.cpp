#include "common/comm/mpi/mpi.h"
#include "common/error.h"

namespace winnow::comm {

bool mpi_built() noexcept { return false; }

std::string mpi_library() { return {}; }

bool mpi_is_open() noexcept { return false; }

std::unique_ptr<Communicator> make_mpi(LastWords, const Introductions&) {
  throw Error("this build has no MPI; configure it with -DWINNOW_MPI=ON to run on several ranks");
}

}  // namespace winnow::comm
