#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <map>
#include <optional>
#include <random>
#include <thread>

#include "common/error.h"
#include "common/file.h"
#include "pipeline/ingest/ingest.h"
#include "pipeline/store/cache.h"
#include "tests/common/temporary_folder.h"
#include "tests/pipeline/fake_source.h"

namespace winnow::pipeline::ingest_kill_test {

namespace fs = std::filesystem;

// Ingests run only in child processes: a process with TBB's threads cannot fork.
pid_t start(const FakeSource& source, const fs::path& out, bool memory) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  int status = 1;
  try {
    IngestOptions options;
    options.shard_bytes = 250'000;
    options.work.threads = 2;
    options.target.memory = memory;
    ingest(source, "pictures", out, options, {});
    status = 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  ::_exit(status);
}

int wait_for(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

std::map<std::string, Bytes> read_tree(const fs::path& root) {
  std::map<std::string, Bytes> files;
  for (const auto& entry :
       fs::recursive_directory_iterator(root, fs::directory_options::follow_directory_symlink)) {
    if (entry.is_regular_file()) {
      files[entry.path().lexically_relative(root).string()] = read_file(entry.path());
    }
  }
  return files;
}

class IngestKilled : public testing::TestWithParam<bool> {};

// After SIGKILL at any moment there is either no cache or a complete one. The next run gives the
// same bytes as an uninterrupted one.
TEST_P(IngestKilled, ARerunEndsWithTheSameBytes) {
  const bool memory = GetParam();
  if (memory && ::access("/dev/shm", W_OK) != 0) GTEST_SKIP() << "there is no /dev/shm here";
  const TemporaryFolder folder;
  std::mt19937_64 random(1);
  FakeSource source;
  for (int i = 0; i < 250; ++i) {
    source.add("a",
               encode_picture(make_picture(random, 60 + i % 9, 80, 3), i % 7 ? ".jpg" : ".png"));
  }
  const fs::path want = folder / "want";
  const auto began = std::chrono::steady_clock::now();
  ASSERT_EQ(wait_for(start(source, want, false)), 0);
  const auto whole = std::chrono::steady_clock::now() - began;
  const auto expected = read_tree(want);

  const fs::path out = folder / "out";
  // Every other child dies at a read, the rest after some time, possibly when already finished.
  std::atomic<std::uint64_t> reads_left{0};  // each child has its own copy
  source.on_read = [&](std::size_t) -> std::optional<FakeSource::Answer> {
    if (--reads_left == 0) ::kill(::getpid(), SIGKILL);
    return std::nullopt;
  };
  int killed = 0;
  for (int run = 0; run < 60; ++run) {
    reads_left = run % 2 == 0 ? 1 + random() % 40 : 0;
    const pid_t child = start(source, out, memory);
    if (run % 2 != 0) {
      const auto delay = whole * static_cast<int>(random() % 1000) / 1000;
      std::this_thread::sleep_for(delay / (1 + run % 3));
      ::kill(child, SIGKILL);
    }
    const int status = wait_for(child);
    if (WIFSIGNALED(status)) {
      ++killed;
      if (!fs::exists(CachePaths{out}.manifest())) {
        EXPECT_THROW(Cache::open(out), UsageError);
        continue;
      }
    } else {
      ASSERT_EQ(status, 0);
    }
    EXPECT_NO_THROW(Cache::open(out, {Verify::kBlocks}));  // it finished first: start again
    remove_cache(out);
    EXPECT_FALSE(fs::exists(out));
  }
  EXPECT_GT(killed, 5);
  source.on_read = nullptr;
  if (!fs::exists(CachePaths{out}.manifest())) {
    ASSERT_EQ(wait_for(start(source, out, memory)), 0);
  }
  const auto got = read_tree(out);
  ASSERT_EQ(got.size(), expected.size());
  for (const auto& [name, bytes] : expected) {
    ASSERT_TRUE(got.contains(name)) << name;
    EXPECT_TRUE(got.at(name) == bytes) << name;
  }
  EXPECT_NO_THROW(Cache::open(out, {Verify::kBlocks}));
  remove_cache(out);
}

INSTANTIATE_TEST_SUITE_P(Shards, IngestKilled, testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "in_memory" : "on_disk");
});

}  // namespace winnow::pipeline::ingest_kill_test
