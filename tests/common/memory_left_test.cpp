// Files of control groups, in folders made here.
#include "common/memory_left.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

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

TEST(MemoryHeld, CodeIsWhatFilesThatAreExecutedHave) {
  const auto mapping = [](const char* first, int rss_kib, int changed_kib) {
    return std::string(first) + "\nSize:  900 kB\nRss:  " + std::to_string(rss_kib) +
           " kB\nPss:  7 kB\nAnonymous:  " + std::to_string(changed_kib) +
           " kB\nVmFlags: rd mr mw me\n";
  };
  const std::string smaps =
      mapping("55d0-55d1 r--p 00000000 fe:00 24 /usr/bin/a b", 10, 0) +
      mapping("55d1-55d2 r-xp 00001000 fe:00 24 /usr/bin/a b", 200, 0) +
      mapping("55d2-55d3 rw-p 00002000 fe:00 24 /usr/bin/a b", 8, 6) +
      mapping("7f00-7f01 rw-p 00000000 00:00 0", 5000, 5000) +
      mapping("7f01-7f02 r--s 00000000 fe:00 77 /data/cache/shards/0", 70000, 0) +
      mapping("7f02-7f03 r-xp 00000000 00:00 0 [vdso]", 4, 0);
  EXPECT_EQ(code_bytes(smaps), (10 + 200 + 2) * 1024U);
  EXPECT_EQ(code_bytes(""), 0U);
}

TEST(MemoryLeft, ThisMachineSaysSomething) {
  EXPECT_LT(machine_memory_left(), kNoMemoryLimit);
  EXPECT_GT(memory_held(), 0U);
}

}  // namespace winnow::memory_left_test
