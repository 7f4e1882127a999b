#include <gtest/gtest.h>

#include <vector>

#include "tools/launch/check_launch.h"

namespace winnow::tools {
namespace {

using comm::Launch;
using comm::Launcher;

const std::vector<Launch> kLaunches{{Launcher::kOpenMpi, 4, "OMPI_COMM_WORLD_SIZE"},
                                    {Launcher::kSlurmPmix, 4, "SLURM_STEP_NUM_TASKS"},
                                    {Launcher::kPmi, 4, "PMI_SIZE"},
                                    {Launcher::kSlurm, 4, "SLURM_STEP_NUM_TASKS"},
                                    {Launcher::kTorch, 4, "WORLD_SIZE"}};

MpiWorld world_of(int size) { return {true, "Open MPI v4.1.4", size}; }

TEST(LaunchFault, IsNoneWhereSizesAreEqual) {
  EXPECT_EQ(launch_fault({}, world_of(1), "winnow train"), "");
  EXPECT_EQ(launch_fault({}, {}, "winnow train"), "");
  for (Launch launch : kLaunches) {
    EXPECT_EQ(launch_fault(launch, world_of(4), "winnow train"), "");
    launch.size = 1;
    EXPECT_EQ(launch_fault(launch, world_of(1), "winnow train"), "");
    EXPECT_EQ(launch_fault(launch, {}, "winnow train"), "");
  }
}

TEST(LaunchFault, NamesBothSizesAndWhatToType) {
  for (const Launch& launch : kLaunches) {
    for (const int size : {1, 2, 8}) {
      const std::string fault = launch_fault(launch, world_of(size), "winnow eval");
      SCOPED_TRACE(fault);
      EXPECT_NE(fault.find("started 4 "), fault.npos);
      EXPECT_NE(
          fault.find(size == 1 ? "sees each alone: " : "sees " + std::to_string(size) + " ranks: "),
          fault.npos);
      EXPECT_NE(fault.find("; type "), fault.npos);
      EXPECT_NE(fault.find("mpirun -np 4 winnow eval ..."), fault.npos);
      EXPECT_NE(fault.find(std::string("env -u ") + launch.variable + " winnow eval"), fault.npos);
      EXPECT_EQ(fault.find('{'), fault.npos);
    }
    const std::string without = launch_fault(launch, {}, "winnow eval");
    EXPECT_NE(without.find("built without MPI"), without.npos);
  }
}

TEST(LaunchFault, ReadsAsOneSentence) {
  EXPECT_EQ(launch_fault(kLaunches[3], world_of(1), "winnow train"),
            "srun started 4 tasks, but MPI sees each alone: srun was not asked for PMIx; type srun "
            "--mpi=pmix -n 4 winnow train ..., where `srun --mpi=list` shows pmix, else mpirun -np "
            "4 winnow train ...; for 4 separate runs type env -u SLURM_STEP_NUM_TASKS winnow train "
            "...");
}

}  // namespace
}  // namespace winnow::tools
