#pragma once

#include <cstdint>
#include <functional>

namespace winnow::comm {

enum class Launcher : std::uint8_t {
  kNone,
  kOpenMpi,    // Open MPI's mpirun
  kSlurmPmix,  // srun --mpi=pmix
  kPmi,        // mpiexec of MPICH or Intel MPI, srun --mpi=pmi2
  kSlurm,      // srun without a connection to MPI
  kTorch,      // torchrun and similar ones
};

// The announcement of this process's launcher.
struct Launch {
  Launcher launcher = Launcher::kNone;
  int size = 1;                    // number of processes that it started together
  const char* variable = nullptr;  // environment variable that says so
};

// The value of an environment variable, or null.
using Environment = std::function<const char*(const char* name)>;

// The innermost launcher according to the environment. Pure.
//
// In     has_terminal: this process has a controlling terminal
// srun   is recognised by its step; a batch script, and a shell of salloc or `srun --pty`, were not
//        started as one of several
// torch  unless another launcher announces its size: then that one started it
Launch launch_of(const Environment& environment, bool has_terminal);

// The launch of this process.
Launch this_launch();

// Whether it tells MPI which ranks exist, and there are several.
bool joins_mpi(const Launch& launch) noexcept;

// Removes the announcement from the environment, because processes that this one starts do not
// belong to its launch. Call it while the process has one thread.
void leave_launch();

}  // namespace winnow::comm
