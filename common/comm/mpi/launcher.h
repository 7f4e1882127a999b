#pragma once

#include <cstdint>
#include <functional>

namespace winnow::comm {

enum class Launcher : std::uint8_t {
  kNone,
  kOpenMpi,    // Open MPI's mpirun
  kSlurmPmix,  // srun --mpi=pmix
  kPmi,        // mpiexec of MPICH or Intel MPI, or srun --mpi=pmi2
  kSlurm,      // srun without a connection to MPI
  kTorch,      // torchrun and similar ones
};

// How this process was started: by which launcher, together with how many others.
struct Launch {
  Launcher launcher = Launcher::kNone;
  int size = 1;                    // number of processes that the launcher started together
  const char* variable = nullptr;  // environment variable by which the launcher was recognised
};

// Returns the value of an environment variable, or nullptr. Tests pass their own.
using Environment = std::function<const char*(const char* name)>;

// The launcher that started this process, by its environment. If one was started within another,
// the innermost. Pure.
//
// In     has_terminal: whether this process has a controlling terminal.
// srun   Recognised by the variables of its job step. A batch script, and a shell of salloc or
//        `srun --pty`, do not count as started by it.
// torch  Counts, unless another launcher announces as many processes: then that one started this
//        process.
Launch launch_of(const Environment& environment, bool has_terminal);

// The launcher that started this process.
Launch this_launch();

// Whether the launcher started several processes and connects them to MPI.
bool joins_mpi(const Launch& launch) noexcept;

// Removes the launcher's variables from the environment, because processes that this one starts are
// not among those that the launcher started. Call it while the process has one thread.
void leave_launch();

}  // namespace winnow::comm
