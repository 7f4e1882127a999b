#include <gtest/gtest.h>

#include <vector>

#include "app/launch/check_launch.h"
#include "app/launch/machines.h"

namespace winnow::app::launch_test {

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

constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30;

RankPlace place_on(const std::string& host, std::vector<int> cores, int online, int lent) {
  return {.host = host,
          .cores = std::move(cores),
          .online = online,
          .lent = lent,
          .memory_left = 240 * kGibibyte,
          .memory_total = 251 * kGibibyte,
          .build = "winnow 1"};
}

std::vector<int> first(int count) {
  std::vector<int> cores;
  for (int core = 0; core < count; ++core) cores.push_back(core);
  return cores;
}

TEST(Machines, AreWhatTheirRanksSay) {
  std::vector<RankPlace> places{place_on("h1", {0}, 64, 64), place_on("h2", {0, 1, 2}, 8, 8),
                                place_on("h1", {1}, 64, 64), place_on("h2", {2, 3}, 8, 8),
                                place_on("h1", {4, 5}, 64, 64)};
  places[0].cards = {"A100", "A100", "T4"};
  const std::vector<Machine> machines = machines_of(places, std::vector<int>{0, 1, 0, 1, 0});
  ASSERT_EQ(machines.size(), 2U);
  EXPECT_EQ(machines[0].ranks, (std::vector<int>{0, 2, 4}));
  EXPECT_EQ(machines[0].cores, 4);
  EXPECT_EQ(machines[0].cores_each, 1);
  EXPECT_EQ(machines[0].binding, Binding::kApart);
  EXPECT_EQ(machines[1].cores, 4);
  EXPECT_EQ(machines[1].cores_each, 2);
  EXPECT_EQ(machines[1].binding, Binding::kShared);
  EXPECT_EQ(in_words(machines[0]),
            "h1: ranks 0, 2, 4 on 4 of 64 cores, each bound to 1; 240 GiB of 251 GiB memory free; "
            "2 A100, 1 T4; winnow 1");
  EXPECT_EQ(in_words(machines[1]),
            "h2: ranks 1, 3 on 4 of 8 cores, bound to some in common; 240 GiB of 251 GiB memory "
            "free; no card; winnow 1");
}

TEST(Machines, AreNotBoundWhereRanksMayUseTheSameCores) {
  const std::vector<RankPlace> places{place_on("h1", first(8), 8, 8),
                                      place_on("h1", first(8), 8, 8)};
  const Machine machine = machines_of(places, std::vector<int>{0, 0}).front();
  EXPECT_EQ(machine.binding, Binding::kNone);
  EXPECT_EQ(in_words(machine),
            "h1: ranks 0-1 on 8 of 8 cores; 240 GiB of 251 GiB memory free; no card; winnow 1");
}

std::string warning_for(const std::vector<RankPlace>& places, comm::Launcher launcher,
                        int threads = 0) {
  return idle_warning(machines_of(places, std::vector<int>(places.size(), 0)), launcher, threads);
}

TEST(IdleWarning, SaysWhatToTypeWhereMostCoresStayIdle) {
  const std::vector<RankPlace> two{place_on("h1", {0}, 64, 64), place_on("h1", {1}, 64, 64)};
  EXPECT_EQ(warning_for(two, Launcher::kOpenMpi),
            "62 of 64 cores of h1 stay idle, since its 2 ranks are bound to 2; to use all, type "
            "mpirun --bind-to none, or --map-by slot:PE=32");
  EXPECT_EQ(warning_for({place_on("h1", {3}, 64, 48)}, Launcher::kSlurmPmix),
            "47 of 48 cores of h1 stay idle, since its rank is bound to one; to use all, type srun "
            "--cpus-per-task=48");
}

TEST(IdleWarning, NamesTheWorstMachine) {
  const std::vector<RankPlace> places{place_on("h1", {0}, 8, 8), place_on("h2", {0}, 64, 64),
                                      place_on("h3", first(8), 8, 8)};
  const std::string warning =
      idle_warning(machines_of(places, std::vector<int>{0, 1, 2}), Launcher::kOpenMpi, 0);
  EXPECT_TRUE(warning.starts_with("63 of 64 cores of h2, and most of 1 more machine, stay idle"))
      << warning;
}

// A limit that somebody else set, or that was asked for, is not a launcher's mistake.
TEST(IdleWarning, IsNoFalseAlarm) {
  const std::vector<int> one{0};
  EXPECT_EQ(warning_for({place_on("h1", one, 64, 0)}, Launcher::kNone), "");
  // A wrapper script limits it
  EXPECT_EQ(warning_for({place_on("h1", one, 64, 0)}, Launcher::kOpenMpi), "");
  // A cpuset limits it
  EXPECT_EQ(warning_for({place_on("h1", one, 64, 1)}, Launcher::kOpenMpi), "");
  EXPECT_EQ(warning_for({place_on("h1", one, 2, 2)}, Launcher::kOpenMpi), "");  // half of the cores
  EXPECT_EQ(warning_for({place_on("h1", first(4), 64, 64)}, Launcher::kOpenMpi, 4), "");
  EXPECT_NE(warning_for({place_on("h1", first(4), 64, 64)}, Launcher::kOpenMpi, 5), "");
}

TEST(RankPlace, IsToldAsItIs) {
  const RankPlace here = look_at_rank("winnow 1");
  EXPECT_FALSE(here.cores.empty());
  EXPECT_GE(here.online, static_cast<int>(here.cores.size()));
  EXPECT_GT(here.memory_total, here.memory_left);
  RankPlace place = place_on("h\n\xff", {1, 5}, 8, 6);
  place.cards = {"A100"};
  const RankPlace told = rank_place_of(to_text(place));
  EXPECT_EQ(told.host, "h\n\xef\xbf\xbd");
  EXPECT_EQ(told.cores, place.cores);
  EXPECT_EQ(told.online, 8);
  EXPECT_EQ(told.lent, 6);
  EXPECT_EQ(told.memory_left, place.memory_left);
  EXPECT_EQ(told.memory_total, place.memory_total);
  EXPECT_EQ(told.cards, place.cards);
  EXPECT_EQ(told.build, place.build);
}

}  // namespace winnow::app::launch_test
