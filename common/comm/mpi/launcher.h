#pragma once

#include <cstdint>
#include <functional>

namespace winnow::comm {

enum class Launcher : std::uint8_t {
  kNone,
  kOpenMpi,    // mpirun of Open MPI
  kSlurmPmix,  // srun --mpi=pmix
  kPmi,        // mpiexec of MPICH or Intel MPI, srun --mpi=pmi2
  kSlurm,      // srun without a way to MPI
  kTorch,      // torchrun and others of its kind
};

// What the launcher of this process announces.
struct Launch {
  Launcher launcher = Launcher::kNone;
  int size = 1;                    // processes that it started together
  const char* variable = nullptr;  // of the environment, that says so
};

// The value of a variable of the environment, or null.
using Environment = std::function<const char*(const char* name)>;

// Pure: what the environment says of the innermost launcher.
//
// In     has_terminal: this process has a controlling terminal
// srun   by its step; a batch script, and a shell of salloc or `srun --pty`, were not started as
//        one of several
// torch  where its size is none that another launcher announces: it was started by that one
Launch launch_of(const Environment& environment, bool has_terminal);

// That of this process.
Launch this_launch();

// Whether MPI learns from it which ranks there are, and they are several.
bool joins_mpi(const Launch& launch) noexcept;

// Processes that this one starts are not of its launch: removes what announces their number from
// the environment. While the process has one thread.
void leave_launch();

}  // namespace winnow::comm
