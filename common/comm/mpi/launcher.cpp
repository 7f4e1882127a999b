#include "common/comm/mpi/launcher.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "common/comm/mpi/mpi.h"

namespace winnow::comm {

namespace {

// A launcher is present if both variables are set. The first matching row is the innermost
// launcher: mpirun starts its daemons by srun, whose PMI may be that of MPICH.
struct Row {
  Launcher launcher;
  const char* size;
  const char* beside;
};
constexpr std::array kRows{
    Row{Launcher::kOpenMpi, "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE"},
    Row{Launcher::kSlurmPmix, "SLURM_STEP_NUM_TASKS", "PMIX_RANK"},
    Row{Launcher::kPmi, "PMI_SIZE", "PMI_SIZE"},
    Row{Launcher::kSlurm, "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
};
// RANK is required as well: scripts export WORLD_SIZE for those they start.
constexpr Row kTorch{Launcher::kTorch, "WORLD_SIZE", "RANK"};

// A number of processes; 0 if the variable is unset or no such number.
int size_in(const Environment& environment, const Row& row) {
  const char* const text = environment(row.size);
  if (text == nullptr || environment(row.beside) == nullptr) return 0;
  const std::string_view digits(text);
  int size = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), size);
  return error == std::errc() && end == digits.end() && size > 0 ? size : 0;
}

bool is_of_slurm(Launcher launcher) {
  return launcher == Launcher::kSlurmPmix || launcher == Launcher::kSlurm;
}

}  // namespace

Launch launch_of(const Environment& environment, bool has_terminal) {
  // Also set for what srun starts from such a shell, but that has no terminal.
  const bool in_shell = has_terminal && environment("SLURM_PTY_PORT") != nullptr;
  Launch launch;
  for (const Row& row : kRows) {
    if (in_shell && is_of_slurm(row.launcher)) continue;
    const int size = size_in(environment, row);
    if (size == 0) continue;
    launch = {row.launcher, size, row.size};
    break;
  }
  const int torch = size_in(environment, kTorch);
  if (torch > 1 && torch != launch.size) return {kTorch.launcher, torch, kTorch.size};
  return launch;
}

Launch this_launch() {
  const int terminal = ::open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
  if (terminal >= 0) ::close(terminal);
  return launch_of([](const char* name) { return std::getenv(name); }, terminal >= 0);
}

bool joins_mpi(const Launch& launch) noexcept {
  const bool of_mpi = launch.launcher == Launcher::kOpenMpi || launch.launcher == Launcher::kPmi ||
                      launch.launcher == Launcher::kSlurmPmix;
  return of_mpi && launch.size > 1;
}

bool launched_by_mpi() noexcept {
  try {
    return joins_mpi(this_launch());
  } catch (...) {  // no memory for a function
    return false;
  }
}

void leave_launch() {
  for (const Row& row : kRows) ::unsetenv(row.size);
  ::unsetenv(kTorch.size);
}

}  // namespace winnow::comm
