// What control groups leave, in folders made here.
#include "common/memory_left.h"

#include <gtest/gtest.h>

#include <fstream>

#include "temporary_folder.h"

namespace winnow::memory_left_test {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

TEST(MemoryLeft, IsSaidByTheTightestGroup) {
  const TemporaryFolder folder;
  const fs::path root = folder.path();
  EXPECT_EQ(group_memory_left(root), kNoMemoryLimit);
  write(root / "proc/self/cgroup", "0::/job/step\n");
  const fs::path groups = root / "sys/fs/cgroup";
  write(groups / "job/step/memory.max", "max\n");
  write(groups / "job/step/memory.current", "700\n");
  EXPECT_EQ(group_memory_left(root), kNoMemoryLimit);
  write(groups / "job/memory.max", "1000\n");
  write(groups / "job/memory.current", "900\n");
  write(groups / "job/memory.stat", "anon 600\ninactive_file 250\n");
  EXPECT_EQ(group_memory_left(root), 350U);
  write(groups / "memory.max", "5000\n");
  write(groups / "memory.current", "4900\n");
  EXPECT_EQ(group_memory_left(root), 100U);
  write(groups / "memory.current", "5900\n");
  EXPECT_EQ(group_memory_left(root), 0U);
}

TEST(MemoryLeft, IsSaidByTheFirstVersionToo) {
  const TemporaryFolder folder;
  const fs::path root = folder.path();
  write(root / "proc/self/cgroup", "9:cpu,cpuacct:/other\n4:memory:/job\n");
  const fs::path group = root / "sys/fs/cgroup/memory/job";
  write(group / "memory.limit_in_bytes", "2000\n");
  write(group / "memory.usage_in_bytes", "1500\n");
  write(group / "memory.stat", "total_inactive_file 100\n");
  EXPECT_EQ(group_memory_left(root), 600U);
}

TEST(MemoryLeft, ThisMachineSaysSomething) {
  EXPECT_LT(machine_memory_left(), kNoMemoryLimit);
  EXPECT_GT(memory_held(), 0U);
}

}  // namespace winnow::memory_left_test
