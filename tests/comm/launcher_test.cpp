#include <gtest/gtest.h>
#include <stdlib.h>

#include "common/comm/mpi/mpi.h"

namespace winnow::comm {
namespace {

class LaunchedByMpi : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "SLURM_NTASKS"}) {
      unsetenv(name);
    }
  }
  static void set(const char* name, const char* value) { setenv(name, value, 1); }
};

TEST_F(LaunchedByMpi, NotByItself) { EXPECT_FALSE(launched_by_mpi()); }

TEST_F(LaunchedByMpi, ByOpenMpi) {
  set("OMPI_COMM_WORLD_SIZE", "1");
  EXPECT_FALSE(launched_by_mpi());
  set("OMPI_COMM_WORLD_SIZE", "16");
  EXPECT_TRUE(launched_by_mpi());
}

TEST_F(LaunchedByMpi, ByPmi) {
  set("PMI_SIZE", "1");
  EXPECT_FALSE(launched_by_mpi());
  set("PMI_SIZE", "2");
  EXPECT_TRUE(launched_by_mpi());
}

// A batch job has SLURM_NTASKS without srun, a tool under srun PMIX_RANK with one task.
TEST_F(LaunchedByMpi, BySlurmWithPmix) {
  set("SLURM_NTASKS", "8");
  EXPECT_FALSE(launched_by_mpi());
  set("PMIX_RANK", "3");
  EXPECT_TRUE(launched_by_mpi());
  set("SLURM_NTASKS", "1");
  EXPECT_FALSE(launched_by_mpi());
  unsetenv("SLURM_NTASKS");
  EXPECT_FALSE(launched_by_mpi());
}

TEST_F(LaunchedByMpi, NonsenseIsNo) {
  set("OMPI_COMM_WORLD_SIZE", "many");
  EXPECT_FALSE(launched_by_mpi());
}

}  // namespace
}  // namespace winnow::comm
