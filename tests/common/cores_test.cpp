#include "common/cores.h"

#include <gtest/gtest.h>

#include <fstream>
#include <numeric>
#include <string>

#include "common/thread_plan.h"
#include "temporary_folder.h"

namespace winnow::cores_test {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

// A simulated machine.
class Machine : public testing::Test {
 protected:
  void process(const std::string& id, const std::string& name, int above,
               const std::string& cores) {
    write(root_ / "proc" / id / "comm", name + "\n");
    write(root_ / "proc" / id / "status", "Name:\t" + name + "\nPPid:\t" + std::to_string(above) +
                                              "\nCpus_allowed:\tff\nCpus_allowed_list:\t" + cores +
                                              "\n");
  }

  const TemporaryFolder temporary_;
  const fs::path root_ = temporary_.path();
};

std::vector<int> range(int first, int last) {
  std::vector<int> cores(static_cast<std::size_t>(last - first + 1));
  std::iota(cores.begin(), cores.end(), first);
  return cores;
}

TEST_F(Machine, CoresAreReadHoweverManyThereAre) {
  process("self", "winnow", 7, "0-3,8,2046-2047");
  EXPECT_EQ(cores_of(0, root_), (std::vector<int>{0, 1, 2, 3, 8, 2046, 2047}));
  process("9", "winnow", 7, "0-4095");
  EXPECT_EQ(cores_of(9, root_), range(0, 4095));
  EXPECT_TRUE(cores_of(10, root_).empty());
  for (const char* damaged : {"", "x", "5-", "3-1", ",,", "0-99999999"}) {
    process("self", "winnow", 7, damaged);
    EXPECT_LE(cores_of(0, root_).size(), 70000U) << damaged;
  }
  EXPECT_FALSE(cores_of(0).empty()) << "this machine has one";
}

// In the root cpuset, a process may run on all cores that could ever exist.
TEST_F(Machine, CoresThatAreNotOnlineAreNotCounted) {
  process("self", "winnow", 7, "0-239");
  write(root_ / "sys/devices/system/cpu/online", "0-3,6\n");
  EXPECT_EQ(cores_of(0, root_), (std::vector<int>{0, 1, 2, 3, 6}));
  process("self", "winnow", 7, "2,5-6");
  EXPECT_EQ(cores_of(0, root_), (std::vector<int>{2, 6}));
  write(root_ / "sys/devices/system/cpu/online", "\n");  // it does not say
  EXPECT_EQ(cores_of(0, root_), (std::vector<int>{2, 5, 6}));
}

TEST_F(Machine, TheLauncherIsTheNearestAbove) {
  process("self", "winnow", 30, "3");
  process("30", "bash", 20, "3");
  process("20", "orted", 10, "0-7");
  process("10", "mpirun", 1, "0-127");
  EXPECT_EQ(launcher_cores(root_), range(0, 7));
  process("20", "sshd", 1, "0-127");
  EXPECT_TRUE(launcher_cores(root_).empty());
}

TEST_F(Machine, QuotasOfAllGroupsCount) {
  EXPECT_EQ(quota_cores(root_), 0);
  write(root_ / "proc/self/cgroup", "0::/job/step\n");
  const fs::path top = root_ / "sys/fs/cgroup";
  write(top / "cpu.max", "max 100000\n");
  write(top / "job/cpu.max", "400000 100000\n");
  write(top / "job/step/cpu.max", "250000 100000\n");
  EXPECT_EQ(quota_cores(root_), 2.5);
  write(top / "job/step/cpu.max", "max 100000\n");
  EXPECT_EQ(quota_cores(root_), 4);
  write(top / "cpu.max", "150000 100000\n");  // as in a container
  EXPECT_EQ(quota_cores(root_), 1.5);
}

TEST_F(Machine, QuotasOfVersionOneCountToo) {
  write(root_ / "proc/self/cgroup", "4:memory:/job\n9:cpu,cpuacct:/job/step\n");
  for (const char* folder : {"cpu", "cpu,cpuacct"}) {
    const fs::path top = root_ / "sys/fs/cgroup" / folder;
    write(top / "job/cpu.cfs_quota_us", "300000\n");
    write(top / "job/cpu.cfs_period_us", "100000\n");
    write(top / "job/step/cpu.cfs_quota_us", "-1\n");
    write(top / "job/step/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(quota_cores(root_), 3);
    fs::remove_all(top);
  }
}

TEST(ShareOfCores, DividesWhatSeveralMayUse) {
  const auto shares = [](const std::vector<std::vector<int>>& all) {
    std::vector<double> found;
    for (std::size_t i = 0; i < all.size(); ++i) found.push_back(share_of_cores(all, i));
    return found;
  };
  using Shares = std::vector<double>;
  const std::vector<int> eight = range(0, 7);
  EXPECT_EQ(shares({eight, eight, eight, eight}), (Shares{2, 2, 2, 2}));  // not bound
  EXPECT_EQ(shares({{0, 1}, {2, 3}, {4, 5}}), (Shares{2, 2, 2}));         // bound
  EXPECT_EQ(shares({range(0, 3), range(0, 3), range(4, 7)}), (Shares{2, 2, 4}));
  EXPECT_EQ(shares({range(0, 1), range(1, 2)}), (Shares{1.5, 1.5}));
  EXPECT_EQ(shares({range(0, 2047)}), (Shares{2048}));
}

TEST(ShareOfCores, IsGuessedByTheLauncher) {
  EXPECT_EQ(share_of_cores(8, 8, 4), 2) << "in a cpuset of 8, not bound";
  EXPECT_EQ(share_of_cores(2, 8, 4), 2) << "bound";
  EXPECT_EQ(share_of_cores(8, 0, 4), 2) << "nobody says";
  EXPECT_EQ(share_of_cores(64, 128, 4), 16) << "bound to one of two sockets";
  EXPECT_EQ(share_of_cores(5, 5, 1), 5);
}

}  // namespace winnow::cores_test
