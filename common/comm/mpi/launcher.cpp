#include <cstdlib>

#include "common/comm/mpi/mpi.h"

namespace winnow::comm {

namespace {

// The number in an environment variable; 0 when unset or no number.
long number_in(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::strtol(text, nullptr, 10);
}

}  // namespace

bool launched_by_mpi() noexcept {
  // Open MPI's mpirun; MPICH's, Intel's and srun --mpi=pmi2; srun --mpi=pmix, which leaves the
  // number of ranks to Slurm's own variable.
  return number_in("OMPI_COMM_WORLD_SIZE") > 1 || number_in("PMI_SIZE") > 1 ||
         (std::getenv("PMIX_RANK") != nullptr && number_in("SLURM_NTASKS") > 1);
}

}  // namespace winnow::comm
