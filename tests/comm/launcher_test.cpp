#include "common/comm/mpi/launcher.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>
#include <string>
#include <vector>

#include "common/comm/mpi/mpi.h"

namespace winnow::comm::launcher_test {

using Variables = std::map<std::string, std::string>;

Launch launch_in(const Variables& variables, bool has_terminal = false) {
  return launch_of(
      [&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
      },
      has_terminal);
}

// The variables that Slurm 22.05 sets for a task of a step. In a batch script and in a shell of
// salloc there is no step.
Variables slurm_task(const std::string& tasks) {
  return {{"SLURM_NTASKS", "8"},
          {"SLURM_STEPID", "0"},
          {"SLURM_STEP_NUM_TASKS", tasks},
          {"SLURM_PROCID", "0"}};
}

Variables joined(Variables a, const Variables& b) {
  a.insert(b.begin(), b.end());
  return a;
}

const Variables kPmix{{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "slurm.pmix.3.0"}};
const Variables kPmi2{{"PMI_RANK", "0"}, {"PMI_SIZE", "4"}, {"PMI_FD", "11"}};
const Variables kMpirun{{"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "0"}};
const Variables kBatch{{"SLURM_NTASKS", "8"}, {"SLURM_NPROCS", "8"}, {"SLURM_PROCID", "0"}};
const Variables kShell{{"SLURM_PTY_PORT", "38599"}};

Variables torch(const std::string& size) {
  return {{"WORLD_SIZE", size}, {"RANK", "0"}, {"LOCAL_RANK", "0"}, {"MASTER_ADDR", "h1"}};
}

struct Case {
  const char* what;
  Variables variables;
  Launcher launcher;
  int size;
  bool joins;
  bool has_terminal = false;
};

const std::vector<Case> kCases{
    {"nothing", {}, Launcher::kNone, 1, false},
    {"mpirun of one", {{"OMPI_COMM_WORLD_SIZE", "1"}}, Launcher::kOpenMpi, 1, false},
    {"mpirun", kMpirun, Launcher::kOpenMpi, 4, true},
    {"mpirun in a batch script", joined(kMpirun, kBatch), Launcher::kOpenMpi, 4, true},
    {"mpirun, whose daemon srun started on each of three more machines",
     joined(kMpirun, slurm_task("3")), Launcher::kOpenMpi, 4, true},
    {"the same, where Slurm gives all of them PMI",
     joined(joined(kMpirun, slurm_task("3")), {{"PMI_SIZE", "3"}}), Launcher::kOpenMpi, 4, true},
    {"mpirun of one, whose daemon srun started on each of three more machines",
     joined({{"OMPI_COMM_WORLD_SIZE", "1"}}, slurm_task("3")), Launcher::kOpenMpi, 1, false},
    {"MPICH's of one", {{"PMI_SIZE", "1"}, {"PMI_RANK", "0"}}, Launcher::kPmi, 1, false},
    {"MPICH's", {{"PMI_SIZE", "4"}, {"PMI_RANK", "3"}}, Launcher::kPmi, 4, true},
    {"srun --mpi=pmi2", joined(slurm_task("4"), kPmi2), Launcher::kPmi, 4, true},
    {"srun --mpi=pmix", joined(slurm_task("4"), kPmix), Launcher::kSlurmPmix, 4, true},
    {"srun --mpi=pmix of one", joined(slurm_task("1"), kPmix), Launcher::kSlurmPmix, 1, false},
    {"srun --mpi=none", slurm_task("4"), Launcher::kSlurm, 4, false},
    {"srun of one in a job of eight", slurm_task("1"), Launcher::kSlurm, 1, false},
    {"a batch script", kBatch, Launcher::kNone, 1, false},
    {"a shell of salloc", {{"SLURM_NTASKS", "8"}}, Launcher::kNone, 1, false},
    {"a shell of srun --pty", joined(slurm_task("4"), kShell), Launcher::kNone, 1, false, true},
    {"the same with PMIx", joined(joined(slurm_task("4"), kShell), kPmix), Launcher::kNone, 1,
     false, true},
    {"srun from such a shell", joined(joined(slurm_task("4"), kShell), kPmix), Launcher::kSlurmPmix,
     4, true, false},
    {"mpirun from such a shell", joined(joined(slurm_task("4"), kShell), kMpirun),
     Launcher::kOpenMpi, 4, true, true},
    {"srun with a terminal of its own", slurm_task("4"), Launcher::kSlurm, 4, false, true},
    {"torchrun", torch("2"), Launcher::kTorch, 2, false},
    {"torchrun of one", torch("1"), Launcher::kNone, 1, false},
    {"mpirun in a shell that torchrun of one started", joined(torch("1"), kMpirun),
     Launcher::kOpenMpi, 4, true},
    {"WORLD_SIZE of a script alone", {{"WORLD_SIZE", "8"}}, Launcher::kNone, 1, false},
    {"torchrun of two on each of four machines by mpirun", joined(torch("8"), kMpirun),
     Launcher::kTorch, 8, false},
    {"torchrun of one on each of four machines by mpirun", joined(torch("4"), kMpirun),
     Launcher::kOpenMpi, 4, true},
    {"torchrun of one on each of four machines by srun", joined(torch("4"), slurm_task("4")),
     Launcher::kSlurm, 4, false},
    {"nonsense", {{"OMPI_COMM_WORLD_SIZE", "many"}}, Launcher::kNone, 1, false},
    {"nonsense that begins well", {{"PMI_SIZE", "4x"}}, Launcher::kNone, 1, false},
    {"too many", {{"PMI_SIZE", "99999999999"}}, Launcher::kNone, 1, false},
    {"fewer than one", {{"OMPI_COMM_WORLD_SIZE", "-2"}}, Launcher::kNone, 1, false},
};

TEST(Launch, IsThatOfTheInnermostLauncher) {
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.what);
    const Launch launch = launch_in(one.variables, one.has_terminal);
    EXPECT_EQ(launch.launcher, one.launcher);
    EXPECT_EQ(launch.size, one.size);
    EXPECT_EQ(joins_mpi(launch), one.joins);
    if (one.launcher == Launcher::kNone) continue;
    ASSERT_NE(launch.variable, nullptr);
    EXPECT_EQ(one.variables.at(launch.variable), std::to_string(one.size));
  }
}

// A process that a rank starts is not a rank.
TEST(Launch, IsLeft) {
  for (const auto& [name, value] : joined(joined(torch("8"), slurm_task("4")), kPmi2)) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  setenv("OMPI_COMM_WORLD_SIZE", "16", 1);
  EXPECT_EQ(this_launch().launcher, Launcher::kTorch);
  leave_launch();
  EXPECT_EQ(this_launch().launcher, Launcher::kNone);
  EXPECT_FALSE(launched_by_mpi());
  setenv("OMPI_COMM_WORLD_SIZE", "16", 1);
  EXPECT_TRUE(launched_by_mpi());
}

}  // namespace winnow::comm::launcher_test
