#include "app/launch/check_launch.h"

#include <fmt/format.h>

namespace winnow::app {
namespace {

struct Words {
  const char* name;
  const char* started;  // the program that it starts
  const char* why;      // why MPI does not connect the processes; {} is winnow's MPI library
  const char* instead;  // {0}: number of processes; {1}: the command; {2}: winnow's MPI library
};

constexpr const char* kByPmix =
    "srun --mpi=pmix -n {0} {1}, where `srun --mpi=list` shows pmix, else mpirun -np {0} {1}";

Words words_of(comm::Launcher launcher) {
  switch (launcher) {
    case comm::Launcher::kOpenMpi:
      return {"mpirun", "ranks", "this mpirun belongs to another MPI than winnow's, {}",
              "mpirun -np {0} {1}, by the mpirun of {2}"};
    case comm::Launcher::kSlurmPmix:
      return {"srun", "tasks", "Slurm's PMIx does not fit that of winnow's MPI, {}",
              "mpirun -np {0} {1}"};
    case comm::Launcher::kPmi:
      return {"the launcher", "ranks", "it speaks PMI, which winnow's MPI, {}, does not",
              "srun --mpi=pmix -n {0} {1} in Slurm, else mpirun -np {0} {1}, by the mpirun of {2}"};
    case comm::Launcher::kSlurm:
      return {"srun", "tasks", "srun was not asked for PMIx", kByPmix};
    case comm::Launcher::kTorch:
      return {"torchrun, or a launcher like it,", "processes", "it tells PyTorch of them, not MPI",
              "mpirun -np {0} {1}, or in Slurm srun --mpi=pmix"};
    case comm::Launcher::kNone:
      break;
  }
  return {"mpirun", "ranks", "", ""};
}

}  // namespace

std::string launch_fault(const comm::Launch& launch, const MpiWorld& world,
                         const std::string& command) {
  if (launch.size == 1 || launch.size == world.size) return "";
  const Words words = words_of(launch.launcher);
  std::string fault =
      fmt::format("{} started {} {}, but MPI sees {}: ", words.name, launch.size, words.started,
                  world.size == 1 ? "each alone" : fmt::format("{} ranks", world.size));
  if (!world.built) {
    return fault + "this winnow is built without MPI; start one, or build it with -DWINNOW_MPI=ON";
  }
  fault += fmt::format(fmt::runtime(words.why), world.library) + "; type ";
  fault += fmt::format(fmt::runtime(words.instead), launch.size, command + " ...", world.library);
  return fault + fmt::format("; for {} separate runs type env -u {} {} ...", launch.size,
                             launch.variable, command);
}

}  // namespace winnow::app
