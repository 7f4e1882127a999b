// Damaged and hostile images and archives, ingested as usual. Every input is recorded once or
// refused with a message. Nothing is written but the cache, which does not depend on the number of
// threads.
#include "tests/fuzz/mutated_inputs.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#include "common/file.h"
#include "datasets/formats.h"
#include "pipeline/ingest/ingest.h"
#include "pipeline/store/cache.h"
#include "tests/common/temporary_folder.h"
#include "tests/fuzz/damage.h"

namespace winnow::pipeline {
using namespace test;
namespace mutated_inputs_test {

namespace fs = std::filesystem;

constexpr std::uint64_t kSeed = 20'260'101;

// Ends the test program if nothing is reported for too long, and says what it was working on.
class Watchdog {
 public:
  Watchdog() : thread_([this] { watch(); }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void at(const std::string& what) {
    const std::lock_guard lock(mutex_);
    what_ = what;
    ++count_;
  }

 private:
  void watch() {
    using namespace std::chrono_literals;
    std::unique_lock lock(mutex_);
    for (int seen = -1; seen != count_;) {
      seen = count_;
      if (changed_.wait_for(lock, 300s, [this] { return done_; })) return;
    }
    std::fprintf(stderr, "hangs at %s\n", what_.c_str());
    std::abort();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_ = "the beginning";
  int count_ = 0;
  bool done_ = false;
  std::thread thread_;
};

void write(const fs::path& path, const std::string& bytes) {
  write_new_file(path, as_bytes(bytes));
}

// Every name in a folder, with its contents; without the folder `except`.
std::map<std::string, std::string> tree_around(const fs::path& root, const fs::path& except) {
  std::map<std::string, std::string> tree;
  for (fs::recursive_directory_iterator at(root), end; at != end; ++at) {
    if (at->path() == except) {
      at.disable_recursion_pending();
    } else if (at->is_symlink()) {
      tree[at->path()] = "link to " + fs::read_symlink(at->path()).string();
    } else if (at->is_regular_file()) {
      tree[at->path()] = to_hex(xxh3_128(InputFile(at->path())));
    } else {
      tree[at->path()] = "folder";
    }
  }
  return tree;
}

IngestResult ingest_into(const fs::path& out, const datasets::Source& source, const fs::path& path,
                         int threads) {
  IngestOptions options;
  options.shard_bytes = 1u << 20;
  options.work.memory_bytes = 64u << 20;
  options.work.threads = threads;
  return ingest(source, path, out, options, {});
}

std::uint64_t sum_of(const std::map<std::string, std::uint64_t>& classes) {
  return std::accumulate(classes.begin(), classes.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& row) { return sum + row.second; });
}

struct Outcome {
  int code;  // exit code; -1: ended by a signal
  std::string out;
};

// The program on the same input; nullopt if the environment does not say where it is.
std::optional<Outcome> run_program(const fs::path& source, const fs::path& out,
                                   const std::string& more) {
  const char* winnow = std::getenv("WINNOW");
  if (winnow == nullptr) return std::nullopt;
  const std::string command = std::string("'") + winnow + "' ingest '" + source.string() +
                              "' --out '" + out.string() + "' --json " + more + " 2>/dev/null";
  Outcome outcome{};
  FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> piece;
  while (const std::size_t got = std::fread(piece.data(), 1, piece.size(), pipe)) {
    outcome.out.append(piece.data(), got);
  }
  const int status = ::pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

TEST(MutatedImages, AreEachBookedOnceAndAlikeOnAnyNumberOfThreads) {
  const TemporaryFolder folder;
  Watchdog watchdog;
  const fs::path set = folder / "set";
  fs::create_directories(set);
  write(folder / "beside", "untouched");
  const std::vector<MadeFile> files = mutated_images(kSeed);
  ASSERT_GE(files.size(), 5000U);
  for (const MadeFile& file : files) write(set / file.name, file.bytes);
  const fs::path cache = folder / "cache";
  const auto before = tree_around(folder.path(), cache);

  const auto source =
      datasets::open_source(set, {.format = "image_folder", .labels = datasets::LabelsFrom::kNone});
  ASSERT_EQ(source->entries().size(), files.size());
  std::string digest;
  for (const int threads : {1, 2, 8}) {
    watchdog.at("an ingest on " + std::to_string(threads) + " threads");
    const IngestResult result = ingest_into(cache, *source, set, threads);
    EXPECT_EQ(result.manifest.inputs.total, files.size());
    EXPECT_EQ(sum_of(result.manifest.inputs.by_fate), files.size());
    for (const char* fate : {"ok", "corrupt", "truncated", "too_large", "unsupported", "empty"}) {
      EXPECT_GT(result.manifest.inputs.by_fate.at(fate), 0U) << fate;
    }
    EXPECT_EQ(result.manifest.inputs.by_fate.at("unreadable"), 0U);
    if (digest.empty()) digest = result.digest;
    EXPECT_EQ(result.digest, digest) << threads << " threads";
    EXPECT_EQ(Cache::open(cache).read_ledger().size(), files.size());
    remove_cache(cache);
    EXPECT_EQ(tree_around(folder.path(), cache), before);
  }

  watchdog.at("the program");
  const auto program = run_program(
      set, cache, "--labels none --shard-size 1 --memory-limit 64 --format image_folder");
  if (!program) GTEST_SKIP() << "WINNOW does not say where the program is";
  EXPECT_EQ(program->code, 0);
  EXPECT_NE(program->out.find("\"digest\":\"" + digest + "\""), std::string::npos) << program->out;
  EXPECT_EQ(tree_around(folder.path(), cache), before);
}

TEST(MutatedImages, SoundOnesAreAllRead) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "set");
  const std::vector<MadeFile> files = sound_images();
  for (const MadeFile& file : files) write(folder / ("set/" + file.name), file.bytes);
  const auto source = datasets::open_source(folder / "set", {});
  const IngestResult result = ingest_into(folder / "cache", *source, folder / "set", 2);
  for (const LedgerRow& row : Cache::open(folder / "cache").read_ledger()) {
    EXPECT_EQ(row.fate, Fate::kOk) << row.name << ": " << row.reason;
  }
  EXPECT_EQ(result.manifest.inputs.by_fate.at("ok"), files.size());
}

class MutatedArchives : public testing::Test {
 protected:
  MutatedArchives() { fs::create_directories(folder_ / "around/set"); }

  // Whether the file was opened and some of it stored.
  bool try_one(const MadeFile& file, const std::vector<int>& threads, bool by_program) {
    watchdog_.at(file.name);
    const fs::path path = folder_ / ("around/set/" + file.name);
    const fs::path cache = folder_ / "around/cache";
    write(path, file.bytes);
    const auto before = tree_around(folder_.path(), cache);
    std::unique_ptr<datasets::Source> source;
    Judge judge(file.name, [&] { source = datasets::open_source(path, {}); });
    judge.judge(Must::kRefuseOrSame, [] { return "opened"; });
    std::string digest;
    for (const int count : source ? threads : std::vector<int>{}) {
      const std::string now = ingest_and_look(cache, *source, path, count);
      EXPECT_TRUE(count == threads.front() || now == digest) << file.name;
      digest = now;
    }
    if (by_program) {
      const auto program = run_program(path, cache, "");
      EXPECT_TRUE(!program || (program->code >= 0 && program->code <= 3)) << file.name;
      fs::remove_all(cache);
    }
    EXPECT_EQ(tree_around(folder_.path(), cache), before) << file.name;
    fs::remove(path);
    return !digest.empty();
  }

 private:
  // The digest of the cache; empty if nothing was readable.
  std::string ingest_and_look(const fs::path& cache, const datasets::Source& source,
                              const fs::path& path, int threads) {
    std::string digest;
    try {
      const IngestResult result = ingest_into(cache, source, path, threads);
      EXPECT_EQ(sum_of(result.manifest.inputs.by_fate), source.entries().size()) << path;
      digest = result.digest;
    } catch (const RefusedError&) {
      EXPECT_FALSE(fs::exists(cache)) << path;
    } catch (const Error& error) {
      ADD_FAILURE() << path << ": " << error.what();
    }
    fs::remove_all(cache);
    return digest;
  }

  TemporaryFolder folder_;
  Watchdog watchdog_;
};

TEST_F(MutatedArchives, AreRefusedOrBookedAndNeverUnpacked) {
  const std::vector<fs::path> outside{"/out.jpg", "/tmp/out.jpg", "out.jpg", "../out.jpg"};
  for (const fs::path& path : outside) ASSERT_FALSE(fs::exists(path)) << path;
  const std::vector<MadeFile> files = mutated_archives(kSeed);
  EXPECT_GE(files.size(), 700U);
  std::size_t stored = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto threads = i % 16 == 0 ? std::vector{1, 2, 8} : std::vector{2};
    stored += try_one(files[i], threads, i % 32 == 0) ? 1 : 0;
    if (HasFailure()) break;  // the first failure is enough to look at
  }
  EXPECT_GT(stored, 100U);
  EXPECT_LT(stored, files.size() - 100);
  for (const fs::path& path : outside) EXPECT_FALSE(fs::exists(path)) << path;
}

}  // namespace mutated_inputs_test
}  // namespace winnow::pipeline
